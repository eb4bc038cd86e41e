// server.ts - requests to a Belay server. Every request can be repeated, and is repeated while the
// server restarts.

/** How to reach the server. */
export interface BelayServerOptions {
  /** Default: $BELAY_SERVER, else http://127.0.0.1:8123. */
  url?: string;
  /** Default: $BELAY_API_KEY; without one, no key is sent. */
  apiKey?: string;
  /** The owner of the checkpoints; default: the user of the key. */
  userId?: string;
  /** Time after which a request is no longer repeated, in milliseconds. Default: 30,000. */
  retryTime?: number;
  /** Time limit of one attempt, in milliseconds. Default: 30,000. */
  timeout?: number;
}

/** An answer of the server that is not a success. */
export class BelayError extends Error {
  override readonly name = "BelayError";
  constructor(
    /** HTTP status; 0: the server did not answer. */
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

const FIRST_DELAY = 50;
const LONGEST_DELAY = 2_000;
const REPEATED = new Set([408, 429, 502, 503, 504]);

class Attempt {
  constructor(
    readonly error: BelayError,
    readonly delay: number | undefined,
  ) {}
}

export class BelayServer {
  readonly url: string;
  private readonly query: string;
  private readonly headers: Record<string, string>;
  private readonly retryTime: number;
  private readonly timeout: number;

  constructor(options: BelayServerOptions = {}) {
    const url = options.url ?? process.env.BELAY_SERVER ?? "http://127.0.0.1:8123";
    this.url = url.replace(/\/+$/, "");
    this.query = options.userId === undefined ? "" : "?userId=" + encodeURIComponent(options.userId);
    this.headers = { "Content-Type": "application/json" };
    const key = options.apiKey ?? process.env.BELAY_API_KEY;
    if (key) this.headers.Authorization = "Bearer " + key;
    this.retryTime = options.retryTime ?? 30_000;
    this.timeout = options.timeout ?? 30_000;
  }

  /** Sends a request to /api/langgraph/PATH; returns the document of the answer. */
  async send<T>(path: string, body: object): Promise<T> {
    const text = JSON.stringify(body);
    const until = Date.now() + this.retryTime;
    for (let delay = FIRST_DELAY; ; delay = Math.min(2 * delay, LONGEST_DELAY)) {
      const result = await this.attempt<T>(path, text);
      if (!(result instanceof Attempt)) return result.document;
      const wait = result.delay === undefined ? undefined : Math.max(delay, result.delay);
      if (wait === undefined || Date.now() + wait > until) throw result.error;
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }

  private async attempt<T>(path: string, text: string): Promise<{ document: T } | Attempt> {
    let response: Response;
    let answer: string;
    try {
      response = await fetch(`${this.url}/api/langgraph/${path}${this.query}`, {
        method: "POST",
        headers: this.headers,
        body: text,
        signal: AbortSignal.timeout(this.timeout),
      });
      answer = await response.text();
    } catch (failure) {
      const cause = failure instanceof Error ? (failure.cause ?? failure) : failure;
      const reason = cause instanceof Error ? cause.message : String(cause);
      return new Attempt(new BelayError(0, `No answer from ${this.url}: ${reason}`), 0);
    }
    if (response.ok) return { document: (answer === "" ? undefined : JSON.parse(answer)) as T };
    const error = new BelayError(response.status, detailOf(answer) ?? `Status ${response.status}`);
    const seconds = Number(response.headers.get("Retry-After") ?? 0);
    return new Attempt(error, REPEATED.has(response.status) ? seconds * 1_000 || 0 : undefined);
  }
}

function detailOf(answer: string): string | undefined {
  try {
    const problem: unknown = JSON.parse(answer);
    const detail = (problem as { detail?: unknown } | null)?.detail;
    return typeof detail === "string" ? detail : undefined;
  } catch {
    return undefined;
  }
}
