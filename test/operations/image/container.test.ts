import assert from 'node:assert/strict'
import { chownSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { ROOT } from '../../fixtures/tree.ts'
import { type BuiltImage, buildImage } from './built-image.ts'
import { runContainer } from './container.ts'

/*
 * The image is built by buildah and run as a container: no user 0, no writable root, no shell
 * between the runtime and Node.js.
 */

/** How long Docker waits after the stop signal before it kills a container. */
const GRACE_MS = 10_000
const UID = 10_001

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
let image: BuiltImage

before(() => {
  image = buildImage()
})
after(() => image?.remove())

test('the image names its version, its user, its volume and its health check', () => {
  const { config } = image
  assert.equal(config.User, `${UID}:${UID}`)
  assert.deepEqual(Object.keys(config.Volumes), ['/data'])
  assert.deepEqual(config.Healthcheck.Test, ['CMD', 'server-listing', 'health'])
  assert.equal(config.Labels['org.opencontainers.image.version'], version)
  assert.equal(config.Labels['org.opencontainers.image.licenses'], 'MIT')
})

test('a container with a read-only root serves, is healthy, and keeps its data when stopped', async (t) => {
  const volume = newVolume('kept')
  const first = await runContainer(t, image, volume)
  await first.exec('server-listing', 'health', '--wait', '30')
  await first.exec('server-listing', 'user', 'add', 'ada@example.com')
  const issue = ['key', 'issue', '--user', 'ada@example.com', '--name', 'bot']
  const key = await first.exec('server-listing', ...issue)
  assert.equal(await first.exec('node', '-e', ASK, key), '200 {"servers":[]}')

  const [healthy, ...check] = image.config.Healthcheck.Test
  assert.equal(healthy, 'CMD')
  assert.equal(await first.exec(...check), 'ready')
  await assert.rejects(first.exec('sh', '-c', 'echo > /opt/server-listing/file'), /Read-only/)
  await assert.rejects(first.exec('sh', '-c', 'echo > /tmp/file'), /Read-only/)

  const stopped = performance.now()
  assert.equal(await first.stop(), 0, first.log())
  assert.ok(performance.now() - stopped < GRACE_MS)
  assert.match(first.log(), /"closed"/)

  const second = await runContainer(t, image, volume)
  await second.exec('server-listing', 'health', '--wait', '30')
  assert.equal(await second.exec('node', '-e', ASK, key), '200 {"servers":[]}')
  assert.equal(await second.stop(), 0, second.log())
})

/** Asks for the listing of the key that the command line names, until the key is not limited. */
const ASK = `
  const headers = { Authorization: 'Bearer ' + process.argv[1] }
  const ask = () => fetch('http://127.0.0.1:8080/v1/servers', { headers })
  let answer = await ask()
  while (answer.status === 429) answer = await ask()
  console.log(answer.status, await answer.text())
`

test('process 1 is Node.js without rights, and with the limits of memory', async (t) => {
  const container = await runContainer(t, image, newVolume('other'))
  const words = async (name: string) => (await container.exec('cat', `/proc/1/${name}`)).split('\0')
  const options = ['node', '--max-semi-space-size=8', '--no-parallel-scavenge']
  assert.deepEqual((await words('cmdline')).slice(0, 3), options)
  assert.ok((await words('environ')).includes('MALLOC_ARENA_MAX=1'))
  const status = readFileSync(`/proc/${container.pid}/status`, 'utf8')
  assert.match(status, new RegExp(`^Uid:\\t${UID}\\t${UID}\\t${UID}\\t${UID}$`, 'm'))
  assert.match(status, /^NSpid:\t\d+\t1$/m)
  assert.match(status, /^Groups:\t *$/m)
  assert.match(status, /^CapEff:\t0+$/m)
  assert.equal(await container.stop(), 0, container.log())
})

/** An empty volume, which a runtime gives the owner and the mode of the folder in the image. */
function newVolume(name: string): string {
  const path = join(image.folder, name)
  mkdirSync(path, { mode: 0o700 })
  chownSync(path, UID, UID)
  return path
}
