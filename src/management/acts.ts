import { setImmediate as otherWork } from 'node:timers/promises'
import { readDocument } from '../acts/read-document.ts'
import { acts } from '../acts/records/acts.ts'
import { count, countOf } from '../model/text.ts'
import { type Answer, json, refuse } from './answers.ts'
import type { Call, Management, Route } from './call.ts'

/** A document is one transaction, and on SQLite no claim is decided meanwhile. */
const ROWS_MAX = 2_000

export const actsRoute: Route = {
  method: 'POST',
  path: /^\/v1\/acts$/,
  query: ['dry-run'],
  answer: perform,
}

async function perform(
  { database, operators }: Management,
  { actor, body, query }: Call,
): Promise<Answer> {
  if (query.get('dry-run')) return refuse(400, 'The query must be ?dry-run, without a value.')
  const rows = countRows(body)
  if (rows > ROWS_MAX)
    return refuse(
      413,
      `A document can have up to ${count(ROWS_MAX)} rows, and this one has ${count(rows)}. ` +
        'Send several documents.',
    )
  const read = readDocument(body, 'site', { now: actor.at })
  if ('complaints' in read) {
    const [first, ...others] = read.complaints
    const more = others.length === 0 ? '' : `, and ${countOf(others.length, 'other mistake')}`
    return refuse(400, `${first!.place || 'the document'}: ${first!.message}${more}`)
  }
  // Reading has filled a turn of the event loop.
  await otherWork()
  const isOperator = (email: string) => operators.includes(email)
  const dryRun = query.has('dry-run')
  return json(
    await acts(database).perform(read.document, { hand: 'site', actor, isOperator, dryRun }),
  )
}

function countRows(body: unknown): number {
  const lists = Object.values(body ?? {}).filter((list) => Array.isArray(list))
  return lists.reduce((sum, list) => sum + list.length, 0)
}
