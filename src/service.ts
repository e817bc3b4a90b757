import { createAnswer } from './api/answer.ts'
import { refusal } from './api/responses.ts'
import { listen } from './http/listen.ts'
import type { ServingStore } from './listing/store.ts'
import type { Log } from './log.ts'

export interface ServiceOptions {
  store: Pick<ServingStore, 'useApiKey' | 'close'>
  host: string
  /** 0 for any free one. */
  port: number
  log: Log
}

export interface Service {
  host: string
  port: number
  /** Answers what was asked, then closes the store. Within ten seconds. */
  close(): Promise<void>
}

/** Starts the service on a store, which is closed with it. */
export async function startService({ store, host, port, log }: ServiceOptions): Promise<Service> {
  const listener = await listen(
    { answer: createAnswer({ store, onFault: log.fault }), refuse: refusal, observe: log.http },
    host,
    port,
  )
  return {
    host: listener.host,
    port: listener.port,
    async close() {
      await listener.close()
      await store.close()
    },
  }
}
