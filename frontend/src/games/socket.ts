/** The line to a running game: numbers what is sent, reconnects, and says what it sees of tab and round trip. */

import { memory } from "../dom";
import type { FromServer, ToServer } from "../types";
import { Acknowledger } from "./acknowledge";

export interface Listener {
  message(message: Exclude<FromServer, { type: "ack" | "pong" | "moved" }>): void;
  line(state: "connecting" | "open" | "lost"): void;
  /** The line was tried several times in vain: perhaps there is no game any more. */
  stuck(): void;
  refused(reason: string): void;
}

const PING_EVERY_MS = 5000;
const SILENCE_MS = 15000; // no pong for so long: the line is dead, whatever the browser says
const WAITS_MS = [300, 700, 1500, 3000, 5000];
const STUCK_AFTER = 3;
const REFUSED = [1003, 1008, 1009]; // the server will say the same the next time

type Numbered = Extract<ToServer, { seq: number }>;

export class Line {
  private socket: WebSocket | null = null;
  private tries = 0;
  private seen = -1;
  private ended = false;
  private rtt: number | null = null;
  private heard = 0;
  private pinging = 0;
  private waiting = 0;
  private readonly unacknowledged = new Map<number, Numbered>();
  private readonly drawn = new Acknowledger((t) => this.send({ type: "seen", t }));
  private readonly watch = (): void => this.send({ type: "visibility", hidden: document.hidden });
  private readonly back = (): void => this.retry();

  constructor(
    private address: string,
    private readonly page: string, // the server must mean the same game
    private readonly key: string, // where the last sequence number is remembered
    private readonly listener: Listener,
  ) {
    document.addEventListener("visibilitychange", this.watch);
    addEventListener("online", this.back);
    this.connect();
  }

  /** An action in real time: worth nothing later, so it is not sent again after a loss. */
  act(action: string): number {
    const message = { type: "act", seq: this.number(), action } as const;
    this.send(message);
    return message.seq;
  }

  /** A move, a flag or a message: sent again, under the same number, until the server has acknowledged it. */
  submit(message: { type: "act"; action: string; t: number } | { type: "flag"; id: string; t: number } | { type: "chat"; text: string }): number {
    const numbered: Numbered = { ...message, seq: this.number() };
    this.unacknowledged.set(numbered.seq, numbered);
    this.send(numbered);
    return numbered.seq;
  }

  /** The key with which a game begins was pressed. */
  ready(): void {
    this.send({ type: "ready" });
  }

  close(): void {
    this.ended = true;
    this.drawn.close();
    document.removeEventListener("visibilitychange", this.watch);
    removeEventListener("online", this.back);
    clearInterval(this.pinging);
    clearTimeout(this.waiting);
    this.socket?.close(1000);
  }

  private connect(): void {
    this.listener.line(this.tries === 0 ? "connecting" : "lost");
    const url = new URL(this.address, location.href);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(url);
    this.socket = socket;
    socket.addEventListener("open", () => this.opened());
    socket.addEventListener("message", (event) => this.receive(String(event.data)));
    socket.addEventListener("close", (event) => this.socket === socket && this.closed(event));
  }

  private opened(): void {
    this.heard = performance.now();
    this.send({ type: "hello", seen: this.seen, page: this.page, acknowledges: true });
    this.drawn.renew();
    this.send({ type: "visibility", hidden: document.hidden });
    this.ping();
    clearInterval(this.pinging);
    this.pinging = window.setInterval(() => this.ping(), PING_EVERY_MS);
  }

  private closed(event: CloseEvent): void {
    clearInterval(this.pinging);
    this.socket = null;
    if (this.ended) return;
    if (REFUSED.includes(event.code)) {
      this.ended = true;
      this.listener.refused(event.reason || String(event.code));
      return;
    }
    this.listener.line("lost");
    if (this.tries > 0 && this.tries % STUCK_AFTER === 0) this.listener.stuck();
    const wait = WAITS_MS[Math.min(this.tries, WAITS_MS.length - 1)] ?? 5000;
    this.tries += 1;
    this.waiting = window.setTimeout(() => this.connect(), wait);
  }

  private retry(): void {
    if (this.ended || this.socket !== null) return;
    clearTimeout(this.waiting);
    this.connect();
  }

  private ping(): void {
    if (performance.now() - this.heard > SILENCE_MS) this.socket?.close(4000);
    else this.send({ type: "ping", at: Math.round(performance.now()), rtt_ms: this.rtt });
  }

  private receive(text: string): void {
    this.heard = performance.now();
    const message = JSON.parse(text) as FromServer;
    if (message.type === "pong") this.rtt = Math.round(performance.now() - message.at);
    else if (message.type === "ack") this.unacknowledged.delete(message.seq);
    else if (message.type === "moved") this.address = message.socket; // another process plays it: the next line goes there
    else {
      if (message.type === "start") this.started(message.seq);
      if (message.type === "tick") this.seen = message.t;
      if (message.type === "end") this.ended = true;
      if (message.type === "elsewhere") this.close();
      // Turned down for good: a move that is not possible would not become so by being sent again.
      if (message.type === "error") this.drop("act");
      this.listener.message(message);
      if (message.type === "tick") this.drawn.drawn(message.t);
    }
  }

  private started(last: number | undefined): void {
    this.tries = 0;
    if (last !== undefined && last > memory.read<number>(this.key, 0)) memory.write(this.key, last);
    this.listener.line("open");
    for (const message of this.unacknowledged.values()) this.send(message);
  }

  private drop(type: Numbered["type"]): void {
    for (const [seq, message] of this.unacknowledged) if (message.type === type) this.unacknowledged.delete(seq);
  }

  /** Numbers rise over reloads as well, so that the server can tell a repeated message from a new one. */
  private number(): number {
    this.last = Math.max(this.last, memory.read<number>(this.key, 0)) + 1;
    memory.write(this.key, this.last);
    return this.last;
  }
  private last = 0;

  private send(message: ToServer): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }
}
