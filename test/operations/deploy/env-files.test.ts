import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { readConfig } from '../../../src/config/config.ts'
import { readEnvLines } from '../../../src/terminal/env-file.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { filesBelow, filesIn } from '../../fixtures/tree.ts'
import { ENV_CASES } from '../../terminal/env-cases.ts'
import { codeBlocksOf } from '../documents/code-blocks.ts'
import { ENV_READERS, type EnvReader } from './env-readers.ts'

/*
 * A file of variables means the same to `--env-file` and to every program that starts the service
 * with it, or is refused.
 */

const { '.env of Compose': _, ...PROGRAMS } = ENV_READERS

for (const { text, value } of ENV_CASES.filter(({ refused }) => refused === undefined))
  test(`${JSON.stringify(text)} has one value in every program, or the service refuses it`, async (t) => {
    // Docker keeps quotes and spaces at the ends, and a shell keeps the line ends of Windows.
    const other = text.includes('\r\n') ? /docker|shell|bash/ : /docker/
    for (const [program, variables] of await readAll(t, text, PROGRAMS)) {
      const read = variables?.SITE_NAME
      if (other.test(program) && read !== value)
        assert.ok('complaints' in readConfig({ SITE_NAME: read }), `${program}: ${read}`)
      else assert.equal(read, value, program)
    }
  })

for (const { text } of ENV_CASES.filter(({ refused }) => refused !== undefined))
  test(`programs do not agree on ${JSON.stringify(text)}`, async (t) => {
    const readings = await readAll(t, text, PROGRAMS)
    const [first, ...others] = readings.values()
    assert.ok(others.some((read) => !isDeepStrictEqual(read, first)))
  })

const DOCUMENTS = [...filesBelow('docs', '.md'), ...filesIn('.', 'README.md')]
const EXAMPLES = DOCUMENTS.flatMap(({ path, text }) =>
  codeBlocksOf(text, path).flatMap(({ at, language, text: block }) =>
    (language === 'ini' && /^[A-Z_]+=/m.test(block)
      ? [block]
      : [...block.matchAll(/\.env"?\)? <<'END'\n(.*?)^END$/gms)].map(([, written = '']) => written)
    ).map((example) => ({ at, example })),
  ),
)

test('the examples of the documents are found', () => {
  const pages = new Set(EXAMPLES.map(({ at }) => at.replace(/:\d+$/, '')))
  assert.deepEqual([...pages].toSorted(), [
    'docs/dashboard.md',
    'docs/management.md',
    'docs/operations/install.md',
    'docs/operations/tls.md',
    'docs/packages.md',
    'docs/proxies.md',
    'docs/site-sign-in.md',
  ])
})

for (const { at, example } of EXAMPLES)
  test(`every program reads the example at ${at} alike`, async (t) => {
    const wanted = Object.fromEntries(readEnvLines(example, at))
    for (const [program, variables] of await readAll(t, example, ENV_READERS))
      assert.deepEqual(variables, wanted, program)
  })

/** What each program reads. Null if it refuses the file. */
async function readAll(
  t: TestContext,
  text: string,
  programs: Record<string, EnvReader>,
): Promise<Map<string, Record<string, string> | null>> {
  const folder = temporaryFolder(t)
  const readings = Object.entries(programs).map(async ([program, read]) => {
    const variables = await read(text, folder)
    return [program, variables && Object.fromEntries(variables)] as const
  })
  return new Map(await Promise.all(readings))
}
