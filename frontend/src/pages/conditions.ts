/** Conditions on answers of the open page, as trees that the server made. */

import type { Answer } from "../types";

/** ["and" | "or", ...], ["not", x], [comparison, x, y], ["name", question] or ["value", constant]. */
export type Condition = unknown[];

type Known = (question: string) => Answer;

export function holds(tree: Condition | null | undefined, known: Known): boolean {
  return tree === null || tree === undefined || Boolean(value(tree, known));
}

function value(tree: Condition, known: Known): unknown {
  const [kind, ...rest] = tree as [string, ...unknown[]];
  switch (kind) {
    case "value":
      return rest[0];
    case "name":
      return known(String(rest[0]));
    case "not":
      return !value(rest[0] as Condition, known);
    case "and":
      return rest.every((part) => Boolean(value(part as Condition, known)));
    case "or":
      return rest.some((part) => Boolean(value(part as Condition, known)));
    default:
      return compare(kind, value(rest[0] as Condition, known), value(rest[1] as Condition, known));
  }
}

function compare(kind: string, left: unknown, right: unknown): boolean {
  if (left === null || left === undefined || right === null || right === undefined) return false;
  switch (kind) {
    case "==":
      return left === right;
    case "!=":
      return left !== right;
    case "in":
    case "not in": {
      const inside = Array.isArray(right) || typeof right === "string" ? right.includes(left as never) : false;
      return kind === "in" ? inside : !inside;
    }
  }
  if (typeof left !== typeof right) return false; // a text compared with a number
  const [a, b] = [left as number, right as number];
  return kind === "<" ? a < b : kind === "<=" ? a <= b : kind === ">" ? a > b : a >= b;
}
