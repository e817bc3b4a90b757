import assert from 'node:assert/strict'
import { PASSWORD } from '../../fixtures/dashboard.ts'
import type { Person } from '../../fixtures/person.ts'
import type { Answer } from '../../fixtures/requests.ts'
import { everyInput } from '../../records/catalogue.ts'
import { namesOf } from '../../records/stage.ts'
import type { Scene } from '../../reliability/fault-injection/scenes/dashboard-scene.ts'
import type { Dump } from '../../reliability/fault-injection/tables.ts'
import { readForms, type Submission } from './read-forms.ts'

/*
 * Every form of a dashboard with one of everything, filled in.
 */

const TYPED: Record<string, string> = {
  name: 'Typed',
  address: 'typed.example.com',
  slug: 'typed',
  edition: 'java',
  version: '1.21',
  listing_kind: 'server',
  email: 'typed@example.com',
  password: PASSWORD,
  'new-password': 'another battery of horses',
  confirmation: 'ada@example.com',
  text: 'name,address\nNew,new.example',
}
/**
 * Time before each form, for the user's token bucket. All forms together take less than the ten
 * minutes after which issuing a key asks for the password.
 */
const REST_MS = 8_000

/** A form, and the page that has it. */
export interface Found extends Submission {
  page: string
}

/** The forms of Ada's pages and of visitors' pages, with something typed into every field. */
export async function crawl(scene: Scene): Promise<Found[]> {
  const { dashboard, ada, keys, deletion } = scene
  const found = new Map<string, Found>()
  const read = ({ status, body }: Answer, path: string) => {
    assert.equal(status, 200, path)
    for (const form of readForms(body)) {
      const fields = typeInto(form, `see ${keys[0]!.key}`)
      if (!found.has(form.name)) found.set(form.name, { ...form, fields, page: path })
    }
  }
  dashboard.elapse(REST_MS)
  for (const { isVisitor, path } of pagesOf(scene))
    read(await (isVisitor ? dashboard.visitor() : ada).get(path), path)
  // The question of a move has no page of its own.
  const move = [...found.values()].find(({ name }) => name.endsWith('to=moved'))!
  read(await send(ada, move), move.path)
  // The notice with the button to undo a change stands on the list once.
  const cookie = `${ada.cookie()}; notice=changed.${deletion}`
  read(
    await dashboard.visitor().get('/dashboard/servers', { Cookie: cookie }),
    '/dashboard/servers',
  )
  return [...found.values()]
}

/** The pages in the catalogue, for Ada and for visitors. */
function pagesOf(scene: Scene): { isVisitor: boolean; path: string }[] {
  const named = namesOf(scene)
  return everyInput()
    .filter(
      ({ file, asked, status }) => file !== 'setup' && asked.method === 'GET' && status === 200,
    )
    .filter(({ asked }) => ['ada', 'visitor'].includes(asked.people[0]!))
    .map(({ asked }) => ({
      isVisitor: asked.people[0] === 'visitor',
      path: asked.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => named[name]!),
    }))
}

/** Types into every field, and selects the first row of a list for its buttons. */
export function typeInto(
  { name: form, fields, typed }: Submission,
  leaked = '',
): Submission['fields'] {
  const email = form === '/sign-in' ? 'ada@example.com' : TYPED.email!
  const values: Record<string, string> = { ...TYPED, leaked, email }
  const filled = fields.map(([name, value]): [string, string] => [
    name,
    typed.includes(name) ? (values[name] ?? value) : value,
  ])
  const isOfRows = fields.some(([name, value]) => name === 'to' && !value.includes('sure'))
  return isOfRows ? [...filled, ['0', 'on']] : filled
}

/** Sends a form as a browser does, from the page that has it if it is known. */
export function send(
  person: Person,
  { path, fields, isUpload, page }: Submission & { page?: string },
): Promise<Answer> {
  const from = page === undefined ? {} : { Referer: `http://localhost${page}` }
  if (isUpload) return person.upload(path, Object.fromEntries(fields), undefined, from)
  return person.send('POST', path, new URLSearchParams(fields).toString(), from)
}

/** Runs with the initial records, a little later. */
export async function afresh(
  { dashboard, tables }: Pick<Scene, 'dashboard' | 'tables'>,
  work: () => Promise<void>,
): Promise<void> {
  await tables.restore()
  dashboard.elapse(REST_MS)
  await work()
}

/** The rows of each table but these, and but the counts of attempts. */
export function rowsOf(dump: Dump, except: readonly string[] = []): Dump {
  const left = [...dump].filter(([name]) => ![...except, 'sign_in_attempts'].includes(name))
  return new Map(left)
}
