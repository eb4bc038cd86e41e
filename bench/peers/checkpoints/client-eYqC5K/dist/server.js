// server.ts - requests to a Belay server. Every request can be repeated, and is repeated while the
// server restarts. They share connections: node:http takes 1 ms less for each than fetch.
import * as http from "node:http";
import * as https from "node:https";
/** An answer of the server that is not a success. */
export class BelayError extends Error {
    status;
    name = "BelayError";
    constructor(
    /** HTTP status; 0: the server did not answer. */
    status, message) {
        super(message);
        this.status = status;
    }
}
const FIRST_DELAY = 50;
const LONGEST_DELAY = 2_000;
const REPEATED = new Set([408, 429, 502, 503, 504]);
const httpAgent = new http.Agent({ keepAlive: true });
const httpsAgent = new https.Agent({ keepAlive: true });
class Attempt {
    error;
    delay;
    constructor(error, delay) {
        this.error = error;
        this.delay = delay;
    }
}
export class BelayServer {
    url;
    query;
    headers;
    retryTime;
    timeout;
    constructor(options = {}) {
        const url = options.url ?? process.env.BELAY_SERVER ?? "http://127.0.0.1:8123";
        this.url = url.replace(/\/+$/, "");
        this.query = options.userId === undefined ? "" : "?userId=" + encodeURIComponent(options.userId);
        this.headers = { "Content-Type": "application/json" };
        const key = options.apiKey ?? process.env.BELAY_API_KEY;
        if (key)
            this.headers.Authorization = "Bearer " + key;
        this.retryTime = options.retryTime ?? 30_000;
        this.timeout = options.timeout ?? 30_000;
    }
    /** Sends a request to /api/langgraph/PATH; returns the document of the answer. */
    async send(path, body) {
        const text = JSON.stringify(body);
        const until = Date.now() + this.retryTime;
        for (let delay = FIRST_DELAY;; delay = Math.min(2 * delay, LONGEST_DELAY)) {
            const result = await this.attempt(path, text);
            if (!(result instanceof Attempt))
                return result.document;
            const wait = result.delay === undefined ? undefined : Math.max(delay, result.delay);
            if (wait === undefined || Date.now() + wait > until)
                throw result.error;
            await new Promise((resolve) => setTimeout(resolve, wait));
        }
    }
    async attempt(path, text) {
        let answer;
        try {
            answer = await this.post(`${this.url}/api/langgraph/${path}${this.query}`, text);
        }
        catch (failure) {
            const reason = failure instanceof Error ? failure.message || failure.name : String(failure);
            return new Attempt(new BelayError(0, `No answer from ${this.url}: ${reason}`), 0);
        }
        const { status, body } = answer;
        if (status >= 200 && status < 300) {
            return { document: (body === "" ? undefined : JSON.parse(body)) };
        }
        const error = new BelayError(status, detailOf(body) ?? `Status ${status}`);
        const seconds = Number(answer.retryAfter ?? 0);
        return new Attempt(error, REPEATED.has(status) ? seconds * 1_000 || 0 : undefined);
    }
    post(url, text) {
        return new Promise((resolve, reject) => {
            const isSecure = url.startsWith("https:");
            const options = {
                method: "POST",
                agent: isSecure ? httpsAgent : httpAgent,
                headers: { ...this.headers, "Content-Length": Buffer.byteLength(text) },
            };
            const request = (isSecure ? https : http).request(url, options, (response) => {
                const pieces = [];
                response.on("data", (piece) => pieces.push(piece));
                response.on("error", reject);
                response.on("end", () => resolve({
                    status: response.statusCode ?? 0,
                    retryAfter: response.headers["retry-after"],
                    body: Buffer.concat(pieces).toString("utf8"),
                }));
            });
            const late = new Error(`The time limit of ${this.timeout} ms has passed.`);
            const timer = setTimeout(() => request.destroy(late), this.timeout);
            request.on("error", reject);
            request.on("close", () => clearTimeout(timer));
            request.end(text);
        });
    }
}
function detailOf(answer) {
    try {
        const problem = JSON.parse(answer);
        const detail = problem?.detail;
        return typeof detail === "string" ? detail : undefined;
    }
    catch {
        return undefined;
    }
}
