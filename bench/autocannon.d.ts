/** The part of autocannon that the benchmark uses; the package has no types. */
declare module 'autocannon' {
  interface Request {
    headers?: Record<string, string>
  }

  interface Options {
    url: string
    connections: number
    /** In seconds. */
    duration: number
    requests: { setupRequest(request: Request): Request }[]
  }

  interface Result {
    '2xx': number
    non2xx: number
    errors: number
    /** In seconds. */
    duration: number
  }

  export default function autocannon(options: Options): Promise<Result>
}
