import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startDashboard, type TestDashboard } from '../../fixtures/dashboard.ts'
import type { Person } from '../../fixtures/person.ts'

/*
 * What fields tell phones and password managers.
 */

const EMAIL = 'ada@example.com'
/** Longer than the time after which issuing a key asks for the password again. */
const LATER_MS = 660_000

const AS_CODE = { autocapitalize: 'none', autocorrect: 'off', spellcheck: 'false' }
const NEW_PASSWORD = {
  type: 'password',
  autocomplete: 'new-password',
  minlength: '10',
  passwordrules: 'minlength: 10',
}
const CURRENT_PASSWORD = { type: 'password', autocomplete: 'current-password' }

/** Each page with some of its fields, by id, and their attributes. */
const FIELDS: [path: string, id: string, attributes: Record<string, string>][] = [
  ['/sign-in', 'email', { type: 'email', autocomplete: 'username' }],
  ['/sign-in', 'password', CURRENT_PASSWORD],
  ['/sign-up', 'email', { type: 'email', autocomplete: 'username' }],
  ['/sign-up', 'password', NEW_PASSWORD],
  ['/dashboard/account', 'email', { type: 'email', autocomplete: 'email' }],
  ['/dashboard/account', 'email-password', CURRENT_PASSWORD],
  ['/dashboard/account', 'new-password', NEW_PASSWORD],
  ['/dashboard/account', 'password-password', CURRENT_PASSWORD],
  ['/dashboard/api', 'name', { autocomplete: 'off' }],
  ['POST /dashboard/api', 'password', CURRENT_PASSWORD],
  ['/dashboard/api', 'leaked', { autocomplete: 'off', ...AS_CODE }],
  ['/dashboard/servers/new', 'address', { inputmode: 'url', autocomplete: 'off', ...AS_CODE }],
  ['/dashboard/servers/new', 'slug', AS_CODE],
  ['/dashboard/servers/new', 'edition', AS_CODE],
  ['/dashboard/servers/new', 'version', AS_CODE],
  ['/dashboard/servers/new', 'listing_kind', AS_CODE],
  ['/dashboard/servers/import', 'text', AS_CODE],
  ['/dashboard/organizations', 'slug', AS_CODE],
]

test('fields tell phones which keys to offer, and password managers what to fill in', async (t) => {
  const person = await signInAndWait(await startDashboard(t))
  for (const [path, id, wanted] of FIELDS) {
    const { body } = await person.get(path)
    const field = new RegExp(`<(?:input|textarea) [^>]*\\bid="${id}"[^>]*>`).exec(body)?.[0] ?? ''
    const attributes = attributesOf(field)
    for (const [name, value] of Object.entries(wanted))
      assert.equal(attributes.get(name), value, `${name} of ${id} on ${path}: ${field}`)
  }
})

test('each form with a password names its user before, also if the form does not show the name', async (t) => {
  const person = await signInAndWait(await startDashboard(t))
  let forms = 0
  for (const path of new Set(FIELDS.map(([each]) => each))) {
    const { body } = await person.get(path)
    for (const [form] of body.matchAll(/<form .*?<\/form>/gs)) {
      const fields = [...form.matchAll(/<input [^>]*>/g)].map(([field]) => attributesOf(field))
      const password = fields.findIndex((field) => field.get('type') === 'password')
      if (password === -1) continue
      forms += 1
      const user = fields.slice(0, password).find((one) => one.get('autocomplete') === 'username')
      const name = path.includes('/dashboard') ? EMAIL : ''
      assert.equal(user?.get('value'), name, form)
    }
  }
  assert.equal(forms, 5)
})

/** A user who must enter the password to issue a key. Pages to sign in show a stranger's view. */
async function signInAndWait({ signedIn, visitor, elapse }: TestDashboard): Promise<Person> {
  const { person } = await signedIn(EMAIL)
  elapse(LATER_MS)
  const stranger = visitor()
  const get: Person['get'] = (path) =>
    path.startsWith('POST ')
      ? person.post(path.slice(5))
      : (path.startsWith('/dashboard') ? person : stranger).get(path)
  return { ...person, get }
}

function attributesOf(tag: string): Map<string, string> {
  return new Map(
    [...tag.matchAll(/ ?([\w-]+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
  )
}
