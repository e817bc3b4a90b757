import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { readConfig } from '../../../src/config/config.ts'
import { SETTINGS } from '../../../src/config/settings.ts'
import { programIn } from '../../cli/program.ts'
import { eventually } from '../../fixtures/eventually.ts'
import { createDatabase } from '../../fixtures/postgres/database.ts'
import { openServer } from '../../fixtures/postgres/server.ts'
import { ask } from '../../fixtures/requests.ts'
import { deploymentIn, podIn, type Resource, readManifest, specOf } from './manifest.ts'
import { findingsIn } from './schemas.ts'
import { assertAccepted, dockerfile, imageEnvironment } from './shipped.ts'

/*
 * deploy/kubernetes.yaml keeps the schemas of Kubernetes, and fits the image and the program. No
 * cluster runs it.
 */

const DATABASE_URL = 'postgres://listing:secret@database/listing'

test('the manifest has only fields and values that Kubernetes knows', (t) => {
  assert.equal(findingsIn(t, programOf(readManifest())), '')
})

test('the check finds fields, types and quantities that Kubernetes does not know', (t) => {
  const manifest = readManifest()
  const [container] = podIn(manifest).containers
  Object.assign(specOf(manifest, 'Service'), { port: [] })
  Object.assign(specOf(manifest, 'PodDisruptionBudget'), { minAvailable: true })
  Object.assign(container!, { resources: { limits: { cpu: 'two' } } })
  const findings = findingsIn(t, programOf(manifest))
  assert.match(findings, /'"port"' does not exist in type 'IServiceSpec'/)
  assert.match(findings, /'true' is not assignable to type 'IIntOrString/)
  assert.match(findings, /must match format .?"quantity/)
})

/** The name of a version is that of a module, and the name of a kind that of a class. */
function programOf(manifest: readonly Resource[]): string {
  const parts = manifest.map(
    ({ kind, apiVersion, ...rest }) => `
import { ${kind}, type I${kind} } from 'kubernetes-models/${apiVersion}'
const of${kind}: I${kind} = ${JSON.stringify({ apiVersion, kind, ...rest })}
new ${kind}(of${kind}).validate()`,
  )
  return parts.join('\n')
}

test('every resource is that of the same pods', () => {
  const manifest = readManifest()
  const { replicas, strategy, selector, template } = deploymentIn(manifest)
  assert.deepEqual(selector.matchLabels, template.metadata.labels)
  assert.deepEqual(specOf(manifest, 'Service').selector, selector.matchLabels)
  assert.deepEqual(specOf(manifest, 'PodDisruptionBudget').selector, selector)
  assert.deepEqual(specOf(manifest, 'NetworkPolicy').podSelector, selector)
  assert.ok(replicas > 1)
  assert.equal(strategy.rollingUpdate.maxUnavailable, 0)
})

test('the ports of the pod are those of the settings, and the Service has none for operators', () => {
  const manifest = readManifest()
  const [container] = podIn(manifest).containers
  const environment = environmentIn(manifest)
  const portOf = (name: 'PORT' | 'DASHBOARD_PORT' | 'OPS_PORT') =>
    Number(environment[name] ?? SETTINGS[name].default)
  assert.deepEqual(
    Object.fromEntries(container!.ports.map(({ name, containerPort }) => [name, containerPort])),
    { api: portOf('PORT'), dashboard: portOf('DASHBOARD_PORT'), ops: portOf('OPS_PORT') },
  )
  assert.deepEqual(specOf(manifest, 'Service').ports, [
    { name: 'api', port: portOf('PORT'), targetPort: 'api' },
    { name: 'dashboard', port: portOf('DASHBOARD_PORT'), targetPort: 'dashboard' },
  ])
})

test('the program accepts the settings of the pod, on PostgreSQL', () => {
  const manifest = readManifest()
  const environment = environmentIn(manifest)
  assertAccepted(environment)
  const read = readConfig(environment)
  assert.ok('config' in read)
  assert.equal(read.config.database.engine, 'postgres')
  assert.ok(read.config.drainSeconds > 0)
  assert.ok(read.config.trustedProxies.length > 0)
  // Kubernetes would set DASHBOARD_PORT=tcp://… for a Service called "dashboard".
  assert.equal(podIn(manifest).enableServiceLinks, false)
  assert.ok('complaints' in readConfig({ ...environment, DASHBOARD_PORT: 'tcp://10.0.0.1:80' }))
})

test('the pod runs as the user of the image, without rights and without a writable root', () => {
  const { securityContext, containers } = podIn()
  const [, uid, gid] = /^USER (\d+):(\d+)$/m.exec(dockerfile())!
  assert.deepEqual(securityContext, {
    runAsNonRoot: true,
    runAsUser: Number(uid),
    runAsGroup: Number(gid),
    seccompProfile: { type: 'RuntimeDefault' },
  })
  assert.deepEqual(
    containers.map((container) => container.securityContext),
    [
      {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      },
    ],
  )
})

test('the service with the settings of the pod answers its probes', async (t) => {
  const manifest = readManifest()
  const env = environmentIn(manifest, await databaseFor(t))
  const served = await programIn(t).serve({
    env: { ...env, PORT: '0', DASHBOARD_PORT: '0', OPS_PORT: '0' },
  })
  await served.written(/health and metrics at/)
  const port = Number(/health and metrics at http:\/\/[^\s"]*:(\d+)/.exec(served.stdout())?.[1])
  const [container] = podIn(manifest).containers
  const { startupProbe, livenessProbe, readinessProbe } = container!
  for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe])
    assert.equal(httpGet.port, 'ops')
  // The kubelet names the address of the pod.
  const askProbe = ({ httpGet: { path } }: typeof startupProbe) =>
    ask(port, { path, headers: { Host: '10.244.1.7:8082' } })
  for (const probe of [startupProbe, livenessProbe])
    assert.equal((await askProbe(probe)).status, 200)
  await eventually(async () => (await askProbe(readinessProbe)).status === 200)

  served.kill('SIGTERM')
  await served.written(/closing/)
  assert.equal((await askProbe(readinessProbe)).status, 503)
  assert.equal((await askProbe(livenessProbe)).status, 200)
  assert.equal((await ask(served.port, { path: '/health' })).status, 200)
})

async function databaseFor(t: TestContext): Promise<string> {
  const server = await openServer()
  t.after(() => server.remove())
  return createDatabase(server)
}

/** What the container gets from the image and the manifest. */
function environmentIn(manifest: readonly Resource[], url = DATABASE_URL): Record<string, string> {
  const [container] = podIn([...manifest]).containers
  const given = container!.env.map(({ name, value, valueFrom }) => {
    if (value !== undefined) return [name, value]
    const secret = { secretKeyRef: { name: 'server-listing', key: name } }
    assert.deepEqual([name, valueFrom], ['DATABASE_URL', secret])
    return [name, url]
  })
  return { ...imageEnvironment(), ...Object.fromEntries(given) }
}
