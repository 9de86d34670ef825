# The oracle of benchmarks/models_against_r.py: reads a CSV, fits with lme4, lmerTest (pbkrtest) and ordinal, prints JSON.
suppressMessages({library(lme4); library(lmerTest); library(ordinal); library(emmeans); library(jsonlite)})
args <- commandArgs(trailingOnly = TRUE)
d <- read.csv(args[1])
groups <- strsplit(args[2], ",")[[1]]
for (g in c(groups, "partner")) d[[g]] <- factor(d[[g]], levels = unique(d[[g]]))
emm_options(lmer.df = "kenward-roger", pbkrtest.limit = 1e5)
random <- paste0("(1|", groups, ")", collapse = " + ")
tight <- lmerControl(optCtrl = list(xtol_abs = 1e-10, ftol_abs = 1e-12), check.conv.singular = "ignore")
out <- list()

m <- lmer(as.formula(paste("y ~ x + z +", random)), d, control = tight)
kr <- coef(summary(m, ddf = "Kenward-Roger"))
st <- coef(summary(m, ddf = "Satterthwaite"))
out$linear <- list(estimate = unname(fixef(m)), se = unname(st[, "Std. Error"]), df_satterthwaite = unname(st[, "df"]),
  se_kr = unname(kr[, "Std. Error"]), df_kr = unname(kr[, "df"]), p_kr = unname(kr[, "Pr(>|t|)"]),
  deviance = as.numeric(REMLcrit(m)),
  variances = as.list(setNames(as.data.frame(VarCorr(m))$vcov, as.data.frame(VarCorr(m))$grp)))

others <- paste0("(1|", setdiff(groups, "partner"), ")", collapse = " + ")
f <- lmer(as.formula(paste("y ~ partner + z +", others)), d, control = tight)
a <- anova(f, ddf = "Kenward-Roger")
out$factor <- list(f = a["partner", "F value"], df1 = a["partner", "NumDF"], df2 = a["partner", "DenDF"], p = a["partner", "Pr(>F)"])
e <- emmeans(f, "partner")
means <- as.data.frame(e)
pairs_ <- as.data.frame(pairs(e, adjust = "holm"))
out$means <- list(estimate = means$emmean, se = means$SE, df = means$df)
out$pairs <- list(estimate = pairs_$estimate, se = pairs_$SE, df = pairs_$df, p_holm = pairs_$p.value)

c_ <- clmm(as.formula(paste("factor(o) ~ x + z +", random)), data = d, control = clmm.control(gradTol = 1e-6))
out$ordinal <- list(thresholds = unname(c_$alpha), estimate = unname(c_$beta), log_likelihood = as.numeric(logLik(c_)),
  se = unname(coef(summary(c_))[names(c_$beta), "Std. Error"]), sds = unname(sapply(c_$ST[groups], function(s) as.numeric(s)[1])))
cat(toJSON(out, digits = NA, auto_unbox = TRUE))
