export { type ListOptions, ServerListingClient, type WatchOptions } from './client.ts'
export type { Clock } from './clock.ts'
export {
  ConnectionError,
  InvalidAnswerError,
  KeyFileError,
  NotFoundError,
  RateLimitedError,
  RedirectError,
  RequestTimeoutError,
  ServerListingError,
  ServiceError,
  UnauthorizedError,
  UnexpectedStatusError,
} from './errors.ts'
export type { ServerListingClientOptions } from './options.ts'
export type { Server } from './server.ts'
