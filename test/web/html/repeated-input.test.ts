import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FORM_BYTES_MAX } from '../../../src/web/request/guard.ts'
import { UPLOAD_BYTES_MAX } from '../../../src/web/request/upload.ts'
import { startDashboard, type TestDashboard } from '../../fixtures/dashboard.ts'
import type { Person } from '../../fixtures/person.ts'
import type { Answer } from '../../fixtures/requests.ts'
import { readForms, type Submission } from '../../dashboard/forms/read-forms.ts'
import { fill } from './usual-values.ts'
import { bytesOf, PAGE_BYTES_MAX } from './page-bytes.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * Pages that give the user back what they typed, at any length.
 */

const IMPORT = '/dashboard/servers/import'
/** Bytes of an upload beside the pasted text. */
const FRAME_BYTES = 1_000
/** Time before each form, for the user's token bucket. */
const REST_MS = 2_000

for (const letter of ['"', '&', '\u{e0100}'])
  test(`without what the user typed, no page with errors loads more than 50 kB: ${JSON.stringify(letter)}`, async (t) => {
    const dashboard = await startDashboard(t)
    const { person, user } = await dashboard.signedIn()
    const organization = await fill(dashboard, user.id)
    const weights: string[] = []
    for (const form of await formsOf(dashboard, person, user.id, organization))
      for (const field of form.typed) {
        dashboard.elapse(REST_MS)
        const answer = await person.send('POST', form.path, withLong(form, field, letter))
        const name = `${form.name} ${field}`
        assert.ok([401, 403, 422, 429].includes(answer.status), `${name}: ${answer.status}`)
        const bytes = await bytesOf(person, { body: withoutTyped(answer.body, field) })
        weights.push(`${name} ${bytes}`)
        assert.ok(bytes < PAGE_BYTES_MAX, `${name} has ${bytes} bytes`)
      }
    t.diagnostic(weights.join(', '))
  })

test('a paste of 1 MB with mistakes comes back whole, in a page of at most 50 kB around it', async (t) => {
  const dashboard = await startDashboard(t)
  const { person } = await dashboard.signedIn()
  const row = { name: '"'.repeat(200), address: '&'.repeat(200) }
  const rows = Array.from({ length: 400 }, () => row)
  const json = JSON.stringify(rows)
  const text = json + ' '.repeat(UPLOAD_BYTES_MAX - FRAME_BYTES - json.length)
  const answer = await person.upload(IMPORT, { form: 'f', text })
  assert.equal(answer.status, 422)
  const [, repeated = ''] = /<textarea[^>]*>\n([^<]*)<\/textarea>/.exec(answer.body)!
  assert.equal(repeated.replaceAll('&amp;', '&'), text)
  const bytes = await bytesOf(person, answer)
  const around = bytes - Buffer.byteLength(repeated)
  t.diagnostic(`${bytes} bytes, ${around} of them around the text`)
  assert.ok(around < PAGE_BYTES_MAX, `${around} bytes`)
})

/** The forms of an account's pages into which the user types one line. */
async function formsOf(
  { store, visitor }: TestDashboard,
  person: Person,
  userId: string,
  organization: string,
): Promise<Submission[]> {
  const [server] = await recordsOf(store).listServers(userId)
  const [key] = await recordsOf(store).listApiKeys(userId, 0)
  const paths = [
    'servers/new',
    `servers/${server!.id}`,
    'organizations',
    `organizations/${organization}/members`,
    'account',
  ]
  const pages = paths.map((path) => read(person, `/dashboard/${path}`))
  const atSignIn = ['/sign-in', '/sign-up'].map((path) => read(visitor(), path))
  const forms = (await Promise.all([...pages, ...atSignIn])).flat()
  const found = forms.filter(({ typed, isUpload }) => typed.length > 0 && !isUpload)
  assert.equal(new Set(found.map(({ name }) => name)).size, 8)
  // Deletes a key, so that the page of five keys has its form.
  await recordsOf(store).revokeApiKey(userId, key!.id, operatorAt(1))
  const ofKeys = (await read(person, '/dashboard/api?name=')).find(({ typed }) =>
    typed.includes('name'),
  )
  assert.ok(ofKeys !== undefined)
  return [...found, ofKeys]
}

async function read(person: Person, path: string): Promise<Submission[]> {
  return readForms((await person.get(path)).body)
}

/** The form with as much in this field as a form may have. */
function withLong({ fields }: Submission, field: string, letter: string): string {
  const long = (times: number) => {
    const filled = fields.map(([name, value]) => [
      name,
      name === field ? letter.repeat(times) : value,
    ])
    return new URLSearchParams(filled as [string, string][]).toString()
  }
  const room = FORM_BYTES_MAX - long(0).length
  return long(Math.floor(room / (long(1).length - long(0).length)))
}

/** The page with an empty field in place of the one that has what the user typed. */
function withoutTyped(body: Answer['body'], field: string): string {
  return body.replace(new RegExp(`( name="${field}" type="[a-z]+" value=")[^"]*`), '$1')
}
