import assert from 'node:assert/strict'
import { ACTS } from '../../src/acts/document.ts'
import type { Json } from './document.ts'

/*
 * An answer in lines, which must have exactly what the acts promise.
 */

type Told = Record<string, number | Json[]>

/** `= put_users: 1 added` for each act, and `= put_users[0] address taken` for a refused row. */
export function tellAnswer(answer: Record<string, Told>, document: Json): string[] {
  const acts = ACTS.filter((act) => act in document)
  assert.deepEqual(Object.keys(answer).toSorted(), acts.toSorted())
  if (acts.length === 0) return ['= nothing']
  return acts.flatMap((act) => {
    const { refused, ...counts } = answer[act]!
    assert.deepEqual(Object.keys(counts).toSorted(), countsOf(act, document))
    const told = Object.entries(counts).filter(([, count]) => count !== 0)
    const line = told.map(([name, count]) => `${Number(count)} ${name}`).join(', ')
    return [
      `= ${act}: ${line || 'nothing'}`,
      ...(refused as Json[]).map((one) => tellRefused(act, one, document)),
    ]
  })
}

/** What an act counts. */
function countsOf(act: string, document: Json): string[] {
  if (act === 'revoke_keys') return ['revoked']
  if (act.startsWith('remove_')) return ['removed']
  if (act === 'put_users' && 'all_users' in document) return ['added', 'banned', 'changed']
  if (act === 'put_servers' && ('all_servers' in document || 'all_servers_of' in document))
    return ['added', 'changed', 'removed']
  return ['added', 'changed']
}

/** A refused item names its row as the document does. */
function tellRefused(act: string, { row, reason, ...called }: Json, document: Json): string {
  const given = (document[act] as Json[])[Number(row)]!
  const names = CALLED.find(([end]) => act.endsWith(end))![1]
  const expected = names.filter((name) => name in given).map((name) => [name, given[name]])
  assert.deepEqual(called, Object.fromEntries(expected), `${act}[${String(row)}]`)
  return `= ${act}[${String(row)}] ${String(reason)}`
}

const CALLED: [end: string, names: string[]][] = [
  ['_users', ['external_id']],
  ['_members', ['external_id']],
  ['_organizations', ['slug']],
  ['_servers', ['id']],
  ['_keys', ['key_hash', 'id']],
]
