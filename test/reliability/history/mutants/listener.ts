import { createAnswer } from '../../../../src/api/answer.ts'
import { refusal } from '../../../../src/api/responses.ts'
import { LIMITS } from '../../../../src/http/limits.ts'
import { listen } from '../../../../src/http/listen.ts'
import type { Response } from '../../../../src/http/message.ts'
import type { ClaimStore } from '../../../../src/model/claim.ts'

/** The API on an engine with a flaw, or with answers that `distort` changes. */
export function listenOn(
  store: ClaimStore,
  distort: (response: Response) => Response,
): ReturnType<typeof listen> {
  const answer = createAnswer({ store, onFault: () => undefined })
  return listen(
    {
      answer: async (request) => distort(await answer(request)),
      refuse: refusal,
      observe: () => {},
    },
    '127.0.0.1',
    0,
    { ...LIMITS, lingerMs: 100, drainGraceMs: 50 },
  )
}
