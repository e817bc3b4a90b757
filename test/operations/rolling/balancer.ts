import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { eventually } from '../../fixtures/eventually.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { ask } from '../../fixtures/requests.ts'
import { ROOT } from '../../fixtures/tree.ts'
import { configured } from '../../reliability/system/front/fronts.ts'
import { freeFixedPort, startDaemon } from '../../fixtures/daemon/daemon.ts'

/** The ports of a process of the service. */
export interface Ports {
  api: number
  ops: number
}

/** Debian's HAProxy with the shipped configuration, without TLS, in front of two processes. */
export interface Balancer {
  port: number
  /** Resolves when it sends requests to the process with this number, from 0. */
  isUp(index: number): Promise<void>
}

const NAMES = ['one', 'two']

export async function startBalancer(
  t: Pick<TestContext, 'after'>,
  [one, two]: [Ports, Ports],
): Promise<Balancer> {
  const folder = temporaryFolder(t)
  const [port, statsPort] = [await freeFixedPort(), await freeFixedPort()]
  const processes = configured('deploy/haproxy-processes.cfg', {
    // A retry would hide a process that refuses a connection too early.
    'option redispatch 1': 'retries 0',
    '10.0.0.1:8080 port 8082': `127.0.0.1:${one.api} port ${one.ops}`,
    '10.0.0.2:8080 port 8082': `127.0.0.1:${two.api} port ${two.ops}`,
    // No client asks for the dashboard.
    '10.0.0.1:8081 port 8082': `127.0.0.1:1 port ${one.ops}`,
    '10.0.0.2:8081 port 8082': `127.0.0.1:1 port ${two.ops}`,
  })
  const config = configured('deploy/haproxy.cfg', {
    'bind :443 ssl crt /etc/haproxy/api.example.com.pem crt /etc/haproxy/listing.example.com.pem': `bind 127.0.0.1:${port}`,
    [singleBackends()]: processes,
  })
  const stats = `listen stats\n  bind 127.0.0.1:${statsPort}\n  stats enable\n  stats uri /\n`
  writeFileSync(join(folder, 'haproxy.cfg'), `${config}\n${stats}`)
  await startDaemon(t, '/usr/sbin/haproxy', ['-db', '-f', join(folder, 'haproxy.cfg')], {
    port,
    log: join(folder, 'log'),
  })
  return {
    port,
    isUp: (index) =>
      eventually(async () => {
        const { body } = await ask(statsPort, { path: '/;csv' })
        return new RegExp(`^server_listing,${NAMES[index]},.*,UP,`, 'm').test(body)
      }),
  }
}

/** The end of the shipped configuration, which the one for several processes replaces. */
function singleBackends(): string {
  const config = readFileSync(join(ROOT, 'deploy/haproxy.cfg'), 'utf8')
  return config.slice(config.indexOf('\nbackend server_listing\n'))
}
