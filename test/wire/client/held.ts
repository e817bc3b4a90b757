import { EventEmitter } from 'node:events'
import type { TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { healthy, listed, refusal } from '../../../src/api/responses.ts'
import { LIMITS, type Limits } from '../../../src/http/limits.ts'
import { type Listener, listen } from '../../../src/http/listen.ts'
import type { HttpEvent, Request, Response } from '../../../src/http/message.ts'
import { once } from '../../fixtures/within.ts'

/** An answer larger than the system's buffers for a client that does not read. */
export const LARGE: Response = answerWith(`"${'x'.repeat(10_000_000)}"`)

export function answerWith(body: string): Response {
  return listed(Buffer.from(body), 'id')
}

/** The front with an application that answers when the test says so. */
export interface HeldFront extends Listener {
  /** The requests, in order of arrival. */
  held: HeldRequest[]
  events: HttpEvent[]
  /** Resolves after this many requests. */
  taken(count: number): Promise<void>
}

export interface HeldRequest extends Request {
  /** Sends this answer, or that of a healthy service. */
  answer(response?: Response): void
}

export async function listenHeld(
  t: Pick<TestContext, 'after'>,
  limits: Partial<Limits> = {},
): Promise<HeldFront> {
  const held: HeldRequest[] = []
  const events: HttpEvent[] = []
  const asked = new EventEmitter()
  const listener = await listen(
    {
      answer: (request) =>
        new Promise((resolve) => {
          held.push({ ...request, answer: (response = healthy) => resolve(response) })
          asked.emit('request')
        }),
      refuse: refusal,
      observe: (event) => events.push(event),
    },
    '127.0.0.1',
    0,
    { ...LIMITS, lingerMs: 5_000, drainGraceMs: 50, drainMs: 200, ...limits },
  )
  t.after(listener.close)
  return {
    ...listener,
    held,
    events,
    async taken(count) {
      while (held.length < count) await once(asked, 'request')
    },
  }
}

/** Lets the service, which shares this process, read everything sent so far. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await nextTurn()
}
