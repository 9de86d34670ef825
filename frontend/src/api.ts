/** Requests to the server. What cannot be sent is tried again; what the server refuses is told. */

import { prefix } from "./site";
import type { Answers, State } from "./types";

export type Reply =
  | { kind: "state"; state: State; conflict?: true } // the page had been answered before, and otherwise
  | { kind: "errors"; errors: Record<string, string> }
  | { kind: "refused"; status: number; message: string };

const LONGEST_WAIT_MS = 8000;

export class Api {
  private csrf = "";

  constructor(
    readonly study: string,
    private readonly unreachable: (now: boolean) => void,
  ) {}

  state(): Promise<Reply> {
    return this.request("state");
  }

  /** `tries` are those that a quiz showed as left, so that a try whose reply got lost is not counted twice. */
  answer(page: string, answers: Answers, seconds: number, tries: number | null, more: object = {}): Promise<Reply> {
    return this.request("answer", { page, answers, seconds, ...(tries === null ? {} : { tries_left: tries }), ...more });
  }

  language(language: string): Promise<Reply> {
    return this.request("language", { language });
  }

  /** Stop taking part. */
  withdraw(): Promise<Reply> {
    return this.request("withdraw", {});
  }

  /** Have everything erased, after one has stopped. */
  erase(): Promise<Reply> {
    return this.request("erase", {});
  }

  private async request(what: string, body?: unknown): Promise<Reply> {
    let fresh = false;
    for (let wait = 500; ; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
      const response = await this.send(what, body);
      if (response === null || response.status === 429 || response.status >= 502) {
        this.unreachable(true);
        await new Promise((done) => setTimeout(done, wait));
        continue;
      }
      this.unreachable(false);
      // Answered in another window, or not the page that is due: go on from where the server stands.
      if (response.status === 409 && body !== undefined) {
        const reply = await this.request("state");
        return reply.kind === "state" ? { ...reply, conflict: true } : reply;
      }
      // The token may have been renewed in another tab.
      if (response.status === 403 && body !== undefined && !fresh) {
        fresh = true;
        await this.request("state");
        continue;
      }
      return this.read(response);
    }
  }

  private async send(what: string, body: unknown): Promise<Response | null> {
    // Queries of the first address (recruiter ids) belong to the server as well.
    const query = what === "state" ? location.search : "";
    const address = `${prefix}/api/study/${encodeURIComponent(this.study)}/${what}${query}`;
    const init: RequestInit =
      body === undefined
        ? { credentials: "same-origin", cache: "no-store" }
        : {
            method: "POST",
            credentials: "same-origin",
            headers: { "content-type": "application/json", "x-csrf": this.csrf },
            body: JSON.stringify(body),
          };
    try {
      return await fetch(address, init);
    } catch {
      return null;
    }
  }

  private async read(response: Response): Promise<Reply> {
    const found: unknown = await response.json().catch(() => null);
    if (isState(found)) { // also with a refusal, where a page tells why
      this.csrf = found.csrf;
      return { kind: "state", state: found };
    }
    if (response.status === 422 && hasErrors(found)) return { kind: "errors", errors: found.errors };
    return { kind: "refused", status: response.status, message: messageOf(found) ?? `${response.status}` };
  }
}

function isRecord(found: unknown): found is Record<string, unknown> {
  return typeof found === "object" && found !== null;
}

function isState(found: unknown): found is State {
  return isRecord(found) && typeof found["csrf"] === "string" && isRecord(found["page"]);
}

function hasErrors(found: unknown): found is { errors: Record<string, string> } {
  return isRecord(found) && isRecord(found["errors"]);
}

function messageOf(found: unknown): string | null {
  return isRecord(found) && typeof found["message"] === "string" ? found["message"] : null;
}
