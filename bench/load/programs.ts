import type { Children } from '../children.ts'

/** Requests at a fixed rate, whether or not answers arrive. */
export interface Load {
  port: number
  /** A file of keys. Null to request `/health`. */
  keysPath: string | null
  /** The number of the first key. */
  from: number
  /** Requests per second. */
  rate: number
  seconds: number
  connections: number
}

/** A load whose requests wait while all connections are busy. */
export interface Paced extends Load {
  /** The latencies of these first seconds do not count, because V8 compiles the programs then. */
  uncountedSeconds: number
  /** In milliseconds since 1970. By default, requests start when all connections are open. */
  startsAt?: number
}

/** Times are in milliseconds from the moment a request was due. */
export interface Latencies {
  /** All requests, by their results. */
  ok: number
  /** Answers with another status than 200. */
  other: number
  unanswered: number
  /** Percentiles of the 200s and of unanswered requests that count. */
  p50: number
  p99: number
  p999: number
  /** The share of the time in which the load generator's thread used a processor, from 0 to 1. */
  busy: number
}

/**
 * The results of a crowd, a load that drops the requests that are due while all connections are
 * busy. Times are in milliseconds from the moment a request was due.
 */
export interface Seen {
  /** 200s per second, from one second after the beginning to the end of the load. */
  goodput: number
  /** All requests that were due, and their number for each result. */
  asked: number
  ok: number
  /** Answers with 502. */
  shed: number
  other: number
  unanswered: number
  /** Requests that were due while all connections waited for an answer. */
  unsent: number
  /** The p99 of the 200s. */
  p99: number
  /** The requests for `/health` beside the load. */
  health: Latencies
  /** Time from the end of the load to the end of the last request without a 200 in 100 ms. */
  recovery: number
}

/** Seconds that a program may take beside the load itself. */
const MORE_SECONDS = 30

export async function runPaced(children: Children, paced: Paced): Promise<Latencies> {
  return (await runProgram(children, 'paced-main.ts', paced)) as Latencies
}

export async function runCrowd(children: Children, crowd: Load): Promise<Seen> {
  return (await runProgram(children, 'crowd-main.ts', crowd)) as Seen
}

async function runProgram(children: Children, name: string, options: Load) {
  // Threads that collect garbage would take the processors from the server.
  const program = ['--single-threaded-gc', `${import.meta.dirname}/${name}`]
  const args = [...program, JSON.stringify(options)]
  const printed = await children.run(process.execPath, args, options.seconds + MORE_SECONDS)
  return JSON.parse(printed) as unknown
}
