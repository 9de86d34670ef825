/** Tells the server which ticks were drawn, a few times a second: a line on which nothing comes back is silent. */

const EVERY_MS = 250;

export class Acknowledger {
  private last = -1;
  private sent = -1;
  private at = 0;
  private timer = 0;

  constructor(private readonly send: (t: number) => void) {}

  drawn(t: number): void {
    this.last = t;
    const wait = this.at + EVERY_MS - performance.now();
    clearTimeout(this.timer);
    if (wait <= 0) this.tell();
    else this.timer = window.setTimeout(() => this.tell(), wait);
  }

  /** A new line: what was acknowledged on the old one may not have arrived. */
  renew(): void {
    this.sent = -1;
    this.at = 0;
  }

  close(): void {
    clearTimeout(this.timer);
  }

  private tell(): void {
    if (this.last === this.sent) return;
    this.sent = this.last;
    this.at = performance.now();
    this.send(this.last);
  }
}
