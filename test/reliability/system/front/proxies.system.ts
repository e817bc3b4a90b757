import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { programIn } from '../../../cli/program.ts'
import { hosted } from '../../../wire/corpus/case.ts'
import { CORPUS } from '../../../wire/corpus/corpus.ts'
import { CHUNKS, FRAMED } from '../../../wire/generated/framings.ts'
import { ODD_FIELDS, ODD_LINES } from '../../../wire/generated/odd-bytes.ts'
import { headsAmong } from '../../../wire/client/outcome.ts'
import { readConnection } from '../../../wire/reference/read-connection.ts'
import { startCaddy } from './caddy.ts'
import { type Front, type StartFront, startHaproxy, startNginx } from './fronts.ts'
import { answersThrough, assertFormOfApi } from './proxied-answers.ts'

/*
 * The proxies with the configurations of deploy/ get all the requests of the corpus. The service
 * answers exactly as many requests as they pass on, so that none is smuggled in another. Every
 * answer has the API's form.
 */

const FRONTS: Record<string, StartFront> = {
  nginx: startNginx,
  HAProxy: startHaproxy,
  Caddy: startCaddy,
}

const TEXTS = [
  ...Object.values(CORPUS).flatMap((cases) => cases.map(({ send }) => send)),
  ...ODD_FIELDS,
  ...ODD_LINES,
  ...FRAMED,
  ...CHUNKS,
]
/** Many at once, because some wait ten seconds for bytes that never come. */
const TOGETHER = 128
const LAST_REQUEST = hosted('GET /health HTTP/1.1', 'Connection: close')

for (const [name, startFront] of Object.entries(FRONTS)) {
  test(`${name} passes on as many requests as are answered: ${TEXTS.length} cases`, (t) =>
    runCases(t, startFront))

  test(`${name} answers in the API's form while there is no service`, async (t) => {
    const front = await startFront(t, 1)
    const answers = await answersThrough(front.port, LAST_REQUEST, [])
    assert.deepEqual(
      answers.map(({ status }) => status),
      [502],
    )
    for (const answer of answers) assertFormOfApi(answer)
  })
}

async function runCases(t: TestContext, startFront: StartFront): Promise<void> {
  const program = programIn(t)
  const service = await program.serve({ env: { LOG_LEVEL: 'debug' } })
  await program.done('user add ada@example.com --create')
  const key = await program.done('key issue --user ada@example.com --name bot')
  const front = await startFront(t, service.port)
  const listing = hosted('GET /v1/servers HTTP/1.1', `Authorization: Bearer ${key}`)
  const [first, second] = await answersThrough(front.port, listing + LAST_REQUEST, [])
  assert.deepEqual([first?.body, second?.body], ['{"servers":[]}', '{"ok":true}'])

  const answers = await runAll(front, key)
  const forwarded = await front.end()
  service.kill('SIGTERM')
  const { stdout } = await service.ended
  const answered = stdout.match(/"msg":"(?:answered|refused)"/g)?.length
  t.diagnostic(`${forwarded} passed on, ${answered} answered; answers to the client: ${answers}`)
  assert.equal(answered, forwarded)
  assert.doesNotMatch(stdout, /"msg":"fault"/)
}

/** Sends each text, followed by a last request. Returns the number of answers per status. */
async function runAll(front: Front, key: string): Promise<string> {
  const texts = TEXTS.map((text) => text.replaceAll('KEY', key) + LAST_REQUEST).values()
  const statuses = new Map<string, number>()
  const failures: unknown[] = []
  const work = async () => {
    for (const text of texts) {
      if (failures.length > 0) return
      const heads = headsAmong(readConnection(text, key).answers)
      const answers = await answersThrough(front.port, text, heads)
      assert.ok(answers.length > 0, `no answer to ${JSON.stringify(text)}`)
      for (const answer of answers) {
        const isItsOwn = front.isItsOwn(answer)
        if (!isItsOwn) assertFormOfApi(answer)
        const status = isItsOwn ? 'a page of its own' : String(answer.status)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    }
  }
  const note = (failure: unknown) => failures.push(failure)
  await Promise.all(Array.from({ length: TOGETHER }, () => work().catch(note)))
  assert.deepEqual(failures, [])
  return JSON.stringify(Object.fromEntries(statuses))
}
