import assert from 'node:assert/strict'
import { createServer, type AddressInfo } from 'node:net'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ask } from '../../fixtures/requests.ts'
import { assertRefused } from '../command.ts'
import { logLines, programIn } from '../program.ts'

test('serve listens for the site with a token that the command made, and never logs it', async (t) => {
  const program = programIn(t)
  const file = join(program.folder, 'tokens')
  const made = JSON.parse(await program.done('token create site --json'))
  writeFileSync(file, `${made.line}\n`)
  await program.done('user add --external-id 4711 --create')
  const env = { MANAGEMENT_PORT: '0', MANAGEMENT_TOKENS_FILE: file, LOG_LEVEL: 'debug' }
  const served = await program.serve({ env })
  await served.written(/management API at/)
  const { msg } = logLines(served.stdout()).find(({ msg }) => /management API/.test(String(msg)))!
  const port = Number(/\d+$/.exec(String(msg))![0])
  const path = '/v1/users/4711'
  const { status, body } = await ask(port, { path, key: made.token })
  assert.deepEqual([status, JSON.parse(body).external_id], [200, '4711'])
  assert.equal((await ask(port, { path: `${path}?token=${made.token}` })).status, 401)
  served.kill('SIGTERM')
  await served.ended
  assert.ok(!served.stdout().includes(made.token))
})

test('serve refuses a wrong file of tokens with its line', async (t) => {
  const program = programIn(t)
  const file = join(program.folder, 'tokens')
  writeFileSync(file, '# nothing yet\nsite 0123\n')
  const env = { MANAGEMENT_PORT: '0', MANAGEMENT_TOKENS_FILE: file }
  const ended = await program.begin('serve', { env }).ended
  assertRefused(ended, 2, 'MANAGEMENT_TOKENS_FILE', 'line 2 must be a name')
})

test('serve names MANAGEMENT_PORT if another process uses it', async (t) => {
  const program = programIn(t)
  const file = join(program.folder, 'tokens')
  const { line } = JSON.parse(await program.done('token create site --json'))
  writeFileSync(file, line)
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  t.after(() => other.close())
  const { port } = other.address() as AddressInfo
  const env = { MANAGEMENT_PORT: String(port), MANAGEMENT_TOKENS_FILE: file }
  const ended = await program.begin('serve', { env }).ended
  assertRefused(ended, 1, `MANAGEMENT_HOST 127.0.0.1, MANAGEMENT_PORT ${port}`)
})

test('doctor counts the tokens, and says which line is wrong', async (t) => {
  const program = programIn(t)
  const file = join(program.folder, 'tokens')
  await program.done('migrate')
  const { line } = JSON.parse(await program.done('token create site --json'))
  const env = { MANAGEMENT_PORT: '8083', MANAGEMENT_TOKENS_FILE: file }
  const found = async () => {
    const { stdout } = await program.run('doctor --json', { env })
    const findings: { check: string; state: string; found: string }[] = JSON.parse(stdout)
    return findings.find(({ check }) => check === 'management_tokens')
  }
  writeFileSync(file, line)
  assert.deepEqual(await found(), {
    check: 'management_tokens',
    state: 'ok',
    found: '1 token',
    advice: null,
  })
  writeFileSync(file, `${line}\nsite-2`)
  const { state, found: complaint } = (await found())!
  assert.equal(state, 'problem')
  assert.match(complaint, /line 2 must be a name/)
})
