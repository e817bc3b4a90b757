import type { Children } from '../children.ts'

const PROGRAM = `${import.meta.dirname}/crowd-main.ts`
/** Seconds that a crowd may take beside the load itself. */
const MORE_SECONDS = 30

/** Keys that are asked with before and after the load, at most: the next load is not to begin with these. */
export const KEYS_BESIDE = 1_000

/** What a crowd is to do: so many requests a second, whether or not answers come, for so long. */
export interface Crowd {
  port: number
  keysPath: string
  /** Which key to begin with. */
  from: number
  /** Requests per second. */
  rate: number
  seconds: number
  connections: number
}

export interface Health {
  asked: number
  p99: number
  max: number
}

/** What it saw; times are in milliseconds, from the moment a request was due. */
export interface Seen {
  /** Answers with 200 per second, from one second after the beginning to the end of the load. */
  goodput: number
  /** The number of requests, and what became of them. */
  asked: number
  ok: number
  shed: number
  other: number
  unanswered: number
  /** What found all connections waiting for an answer. */
  unsent: number
  /** Of the 200s. */
  p50: number
  p99: number
  /** Of GET /health beside the load. */
  health: Health
  /** From the end of the load to the end of the last request that was not answered 200 within 100 ms. */
  recovery: number
  /** The p99 of polite requests after that: what the machine itself makes a request wait. */
  calm: number
}

export async function sendCrowd(children: Children, crowd: Crowd): Promise<Seen> {
  const seconds = crowd.seconds + MORE_SECONDS
  const printed = await children.run(process.execPath, [PROGRAM, JSON.stringify(crowd)], seconds)
  return JSON.parse(printed) as Seen
}
