import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { presentInstant } from '../../../src/model/instant.ts'
import { applyPlans } from '../../../src/acts/commands/apply-plans.ts'
import { planFile } from '../../../src/acts/commands/plan-file.ts'
import { refusal } from '../../../src/acts/commands/read-file.ts'
import { readDocument } from '../../../src/acts/read-document.ts'
import { documentOf } from '../../fixtures/document.ts'
import type { OpenFixture, StoreFixture } from '../fixture.ts'
import { linesOf } from './declared.ts'
import { type Case, FILES, SITE } from './cases/case.ts'
import { KEY_CASES } from './cases/keys.ts'
import { ORGANIZATION_CASES } from './cases/organizations.ts'
import { SERVER_CASES } from './cases/servers.ts'
import { USER_CASES } from './cases/users.ts'

/** The instant of the site's rows, in microseconds. */
const SINCE = Date.parse('2026-06-01T00:00:00Z') * 1_000

const CASES = [...KEY_CASES, ...SERVER_CASES, ...ORGANIZATION_CASES, ...USER_CASES]

/** What `apply` does with documents, to the rows of one site and in the audit log. */
export function appliedCasesContract(open: OpenFixture): void {
  for (const one of CASES)
    test(one.name, async (t) => {
      const fixture = await open(t)
      const site = namesOfRun()
      const inserts = SITE.map((line) => insertOf(line, site, fixture))
      await fixture.execute(`BEGIN; ${inserts.join(';')}; COMMIT`)
      const before = await rowsOf(fixture)
      const { says, plan } = await apply(fixture, one, site)
      const rows = changesBetween(before, await rowsOf(fixture))
      const entries = await entriesOf(fixture)
      const expected = {
        says: [] as string[],
        rows: [] as string[],
        entries: [] as string[],
        ...one,
      }
      assert.deepEqual(
        { says, rows, entries },
        {
          says: expected.says,
          rows: expected.rows.toSorted(),
          entries: expected.entries.toSorted(),
        },
      )
      if (says.length > 0) return
      if ('plan' in one) assert.deepEqual(plan, one.plan)
      assert.deepEqual(await apply(fixture, one, site), { says: [], plan: [] })
      assert.deepEqual(await entriesOf(fixture), entries, 'the second run has changes')
    })
}

/** The ids and hashes of a run. PostgreSQL keeps the hashes of revoked keys between tests. */
function namesOfRun() {
  const salt = crypto.randomUUID()
  const digest = (name: string) =>
    createHash('sha256')
      .update(salt + name)
      .digest('hex')
  const ids = new Map<string, string>()
  return {
    hashOf: digest,
    idOf(name: string): string {
      const [a, b] = [digest(name).slice(0, 8), digest(name).slice(8, 20)]
      const id = `${a}-0000-4000-8000-${b}`
      ids.set(id, name)
      return id
    },
    withoutIds: (text: string) =>
      [...ids].reduce((told, [id, name]) => told.replaceAll(id, `@${name}`), text),
  }
}

type Site = ReturnType<typeof namesOfRun>

/** The statement that inserts the row of a line of `SITE`. */
function insertOf(line: string, { idOf, hashOf }: Site, { literal }: StoreFixture): string {
  const [kind, ...words] = line.split(' ')
  const id = (of: string, name: string | undefined) => `'${idOf(`${of} ${name}`)}'`
  const since = literal.instant(SINCE)
  const whenLast = (word: string) => (words.at(-1) === word ? since : 'NULL')
  const [first, second, third] = words
  if (kind === 'user' && third === 'identity')
    return `INSERT INTO identities (issuer, subject, user_id)
      VALUES ('https://login.example.com', '${first}', ${id('user', first)});
      INSERT INTO users (id, created_at) VALUES (${id('user', first)}, ${since})`
  if (kind === 'user')
    return `INSERT INTO users (id, email, external_id, created_at, disabled_at) VALUES (
      ${id('user', first)}, '${first}@example.com', ${second === '-' ? 'NULL' : `'${second}'`},
      ${since}, ${whenLast('disabled')})`
  if (kind === 'organization')
    return `INSERT INTO organizations (id, slug, name) VALUES (${id(kind, first)}, '${first}', '${second}')`
  if (kind === 'member')
    return `INSERT INTO members (organization_id, user_id, role, joined_at) VALUES (
      ${id('organization', first)}, ${id('user', second)}, '${third}', ${since})`
  if (kind === 'key')
    return `INSERT INTO api_keys (id, user_id, name, prefix, key_hash, created_at, revoked_at) VALUES (
      ${id(kind, second)}, ${id('user', first)}, '${second}', 'svc_live_site',
      ${literal.bytes(hashOf(second!))}, ${since}, ${whenLast('revoked')})`
  const place = third === 'of' ? id('organization', words[3]) : 'NULL'
  const slug = second!.split('.')[0]
  return `INSERT INTO servers (id, created_by, organization_id, name, slug, host_label, updated_at)
    VALUES (${id('server', second)}, ${id('user', first)}, ${place}, '${slug}', '${slug}',
      '${slug}.example.com', ${since})`
}

const USER = `coalesce(replace(users.email, '@example.com', ''), '-')`

/**
 * Each row by its id, as a line like those of `SITE`. Values that the site lacks follow. A row
 * is older if it has an instant before that of the site.
 */
const linesWith = ({ instant }: StoreFixture['literal']) => `
  SELECT users.id AS one, '' AS two, 'user ' || ${USER} || ' ' || coalesce(external_id, '-')
    || CASE WHEN disabled_at IS NULL THEN '' ELSE ' disabled' END
    || CASE WHEN banned_at IS NULL THEN '' ELSE ' banned' END AS line FROM users
  UNION ALL SELECT id, '', 'organization ' || slug || ' ' || name FROM organizations
  UNION ALL SELECT organization_id, CAST(user_id AS text), 'member ' || slug || ' ' || ${USER} || ' ' || role
    || ${olderIf('joined_at', instant)}
    FROM members JOIN organizations ON organizations.id = organization_id JOIN users ON users.id = user_id
  UNION ALL SELECT api_keys.id, '', 'key ' || ${USER} || ' ' || api_keys.name
    || CASE WHEN prefix = 'svc_live_site' THEN '' ELSE ' ' || prefix END
    || CASE WHEN revoked_at IS NULL THEN '' ELSE ' revoked' END
    FROM api_keys JOIN users ON users.id = user_id
  UNION ALL SELECT servers.id, '', 'server ' || ${USER} || ' ' || coalesce(servers.slug, '-')
    || coalesce(' of ' || organizations.slug, '')
    || CASE WHEN servers.name = servers.slug THEN '' ELSE ' ' || servers.name END
    || CASE WHEN host_label = servers.slug || '.example.com' THEN '' ELSE ' ' || host_label END
    || CASE WHEN edition = 'java' THEN '' ELSE ' ' || edition END
    || CASE WHEN status = 'published' THEN '' ELSE ' ' || status END
    || ${olderIf('servers.updated_at', instant)}
    || coalesce(' ' || version, '') || coalesce(' ' || listing_kind, '')
    FROM servers JOIN users ON users.id = created_by
    LEFT JOIN organizations ON organizations.id = organization_id`

const olderIf = (column: string, instant: StoreFixture['literal']['instant']) =>
  `CASE WHEN ${column} < ${instant(SINCE)} THEN ' older' ELSE '' END`

async function rowsOf({ read, literal }: StoreFixture): Promise<Map<string, string>> {
  const rows = await read(linesWith(literal))
  return new Map(rows.map(({ one, two, line }) => [JSON.stringify([one, two]), String(line)]))
}

function changesBetween(before: Map<string, string>, after: Map<string, string>): string[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .flatMap((id) => {
      const [was, is] = [before.get(id), after.get(id)]
      if (was === is) return []
      return was === undefined ? `+ ${is}` : is === undefined ? `- ${was}` : `~ ${was} → ${is}`
    })
    .toSorted()
}

/** What the audit log says, and about whom. */
async function entriesOf({ read }: StoreFixture): Promise<string[]> {
  const rows = await read(`
    SELECT action || ' ' || ${USER}
      || CASE WHEN action = 'servers imported' THEN ': ' || subject ELSE '' END AS line
    FROM audit_log JOIN users ON users.id = user_id`)
  return rows.map(({ line }) => String(line)).toSorted()
}

const readKeyFile = (name: string) => ({ text: FILES[name]! })

/** Applies the document of a case as the command does. Returns what the command says. */
async function apply({ store }: StoreFixture, { file }: Case, site: Site) {
  const text = JSON.stringify(documentOf(file))
    .replaceAll(/"@([^"]+)"/g, (_, name: string) => `"${site.idOf(name)}"`)
    .replaceAll(/"#([^"]+)"/g, (_, name: string) => `"${site.hashOf(name)}"`)
  const now = presentInstant()
  try {
    const read = readDocument(JSON.parse(text), 'operator', { now, readKeyFile })
    if ('complaints' in read) throw refusal('state.json', read.complaints)
    const planned = await planFile(store.database, 'state.json', read.document, now, [
      'op@example.com',
    ])
    await applyPlans(SHELL, store, planned, 'state applied')
    return { says: [], plan: linesOf(planned) }
  } catch (error) {
    const [title, ...lines] = site.withoutIds((error as Error).message).split('\n')
    assert.match(title!, /^nothing was changed: /)
    return { says: lines.map((line) => line.trim()), plan: [] }
  }
}

const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
const SHELL = { stdin, stdout, stderr, env: {} }
