import assert from 'node:assert/strict'
import type { Answer } from '../fixtures/requests.ts'
import {
  type Other,
  SIGNED_IN,
  SIGNED_OUT,
} from '../reliability/fault-injection/scenes/dashboard-scene.ts'
import type { Dump } from '../reliability/fault-injection/tables.ts'
import { saying } from './page-text.ts'
import type { Played, Player } from './play.ts'
import { type Asked, readRequest, send } from './requests.ts'
import { withUnknownIds } from './stage.ts'

/** What everyone else gets for the request of an input, where that is not what most get. */
export async function playOthers(player: Player, text: string, first: Played): Promise<string[]> {
  const { stage, names } = player
  const asked = readRequest(names.fill(text))
  const found: [Other, string][] = []
  for (const other of stage.others) {
    if (other === asked.people[0]) continue
    const says = saying(await askAs(player, other, asked, text))
    if (says !== usual(other, asked, first)) found.push([other, names.hide(says)])
  }
  if (asked.fields.form !== undefined) await assertActsUntagged(player, asked, first)
  await stage.tables.restore()
  return [...Map.groupBy(found, ([, says]) => says)].map(
    ([says, group]) => `others, ${together(group.map(([other]) => other))}: ${says}`,
  )
}

async function askAs(player: Player, other: Other, asked: Asked, text: string): Promise<Answer> {
  const { tables } = player.stage
  await tables.restore()
  const before = lasting(await tables.dump())
  const answer = await sendAs(player, other, asked)
  const after = lasting(await tables.dump())
  const label = `${other}: ${text}`
  if (answer.status >= 400) assert.deepEqual(after, before, label)
  else if (asked.people[0] !== 'visitor' && !isOfOperator(other, asked))
    assert.deepEqual(ofOthers(before, after, player.stage.ids[other]), [], label)
  if (answer.status === 404) await assertAsMissing(player, other, text, answer)
  return answer
}

function sendAs({ stage }: Player, other: Other, asked: Asked): Promise<Answer> {
  return send(stage.browserOf(other), asked)
}

/** A record of another user gets the same answer as one that does not exist. */
async function assertAsMissing(player: Player, other: Other, text: string, answer: Answer) {
  const [path = ''] = /\/\S*/.exec(text) ?? []
  // A page may repeat what was typed, so only the path differs if it has the id.
  const unknown = path.includes('{')
    ? text.replace(path, withUnknownIds(path))
    : withUnknownIds(text)
  const absent = await sendAs(player, other, readRequest(player.names.fill(unknown)))
  assert.deepEqual([absent.status, absent.body], [404, answer.body], `${other}: ${unknown}`)
}

/** A form acts without its tag, and with that of another user's form. */
async function assertActsUntagged(player: Player, asked: Asked, first: Played): Promise<void> {
  const { tables, browserOf } = player.stage
  const { form: _, ...fields } = asked.fields
  const sender = browserOf(asked.people[0]!)
  await tables.restore()
  await assertActs({ ...asked, fields })
  await tables.restore()
  // No two organizations have one slug.
  const theirs = 'slug' in fields ? { ...asked.fields, slug: 'of-other' } : asked.fields
  await sendAs(player, 'other', { ...asked, fields: theirs })
  await assertActs(asked)

  async function assertActs(sent: Asked): Promise<void> {
    const before = lasting(await tables.dump())
    const { status, body } = await send(sender, sent)
    assert.equal(status, first.status, `${sent.path} with the tag ${sent.fields.form}: ${body}`)
    if (first.rows.length > 0) assert.notDeepEqual(lasting(await tables.dump()), before, sent.path)
  }
}

/** Operators act on other users. */
function isOfOperator(other: Other, { path }: Asked): boolean {
  return other === 'operator' && path.startsWith('/dashboard/operator/')
}

/** A refused request leaves its count of attempts. */
const COUNTS = ['sign_in_attempts', 'sqlite_sequence']

function lasting(dump: Dump): Dump {
  return new Map([...dump].filter(([name]) => !COUNTS.includes(name)))
}

/** The changed rows that belong to someone besides this user. A new row may belong to no user. */
function ofOthers(before: Dump, after: Dump, id: string | undefined): string[] {
  return [...before.keys()].flatMap((table) => {
    const [was, is] = [before.get(table)!, after.get(table)!]
    const ownerOf = (row: string): unknown => {
      const cells = JSON.parse(row) as Record<string, unknown>
      return table === 'users' ? cells.id : (cells.user_id ?? cells.created_by)
    }
    const lost = was.filter((row) => !is.includes(row) && ownerOf(row) !== id)
    const added = is.filter(
      (row) => !was.includes(row) && ![id, undefined].includes(ownerOf(row) as string),
    )
    return [...lost, ...added].map((row) => `${table}: ${row}`)
  })
}

const NOT_FOUND =
  '404 Not found | This page does not exist, or you don’t have access to it. Go to the dashboard'
const ENDED = '401 Your session has ended, and nothing was changed. Sign in and try again.'

/** What most of them get, which no record repeats. */
function usual(other: Other, { people, method, path }: Asked, { says }: Played): string {
  if (people[0] === 'visitor') return says
  if ((SIGNED_IN as readonly Other[]).includes(other)) return NOT_FOUND
  return method === 'GET' ? `303 /sign-in?next=${encodeURIComponent(path)}` : ENDED
}

/** One word for all of a kind. */
function together(others: readonly Other[]): string {
  const kinds: [string, readonly Other[]][] = [
    ['all', [...SIGNED_IN, ...SIGNED_OUT]],
    ['signed in', SIGNED_IN],
    ['signed out', SIGNED_OUT],
  ]
  const [word, whole] = kinds.find(([, kind]) => kind.every((one) => others.includes(one))) ?? []
  if (word === undefined) return others.join(', ')
  return [word, ...others.filter((one) => !whole!.includes(one))].join(', ')
}
