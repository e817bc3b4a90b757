import type { Database, Queries } from '../../src/database/database.ts'
import type { Store } from '../../src/database/store.ts'
import { operatorAt } from '../../src/model/audit.ts'
import { presentInstant } from '../../src/model/instant.ts'
import { recordsOf } from '../fixtures/records.ts'

/** The texts of the statements of a query or a transaction, with ? for each value. */
type Act = (texts: readonly string[]) => void | Promise<void>

/**
 * Runs `before` before each query outside a transaction, and `after` after each query or
 * transaction that succeeded, until the returned function is called.
 */
export function intercept(
  database: Database,
  { before = () => {}, after = () => {} }: { before?: Act; after?: Act },
): () => void {
  const own = { ...database }
  const around = (method: 'all' | 'get' | 'run') => async (query: { texts: readonly string[] }) => {
    const texts = [query.texts.join('?')]
    await before(texts)
    const result = await own[method](query as never)
    await after(texts)
    return result as never
  }
  Object.assign(database, {
    all: around('all'),
    get: around('get'),
    run: around('run'),
    async transact(body: Parameters<Database['transact']>[0]) {
      const texts: string[] = []
      const result = await own.transact((transaction) => {
        texts.splice(0)
        const noted = (method: keyof Queries) => (query: { texts: readonly string[] }) => {
          texts.push(query.texts.join('?'))
          return transaction[method](query as never) as never
        }
        return body({
          ...transaction,
          all: noted('all'),
          get: noted('get'),
          run: noted('run'),
        })
      })
      await after(texts)
      return result
    },
  })
  return () => Object.assign(database, own)
}

/** Ends the user's sessions between a successful password check and what follows it. */
export function endSessionsWhileChecking(store: Store, userId: string): void {
  intercept(store.database, {
    async after(texts) {
      // A sign-in also removes its attempt from the account and the address.
      if (texts.length === 1 && texts.every(forgetsAttempts))
        await recordsOf(store).endSessions(userId, operatorAt(presentInstant()))
    },
  })
}

const forgetsAttempts = (text: string) =>
  text.includes('DELETE FROM sign_in_attempts WHERE subject')
