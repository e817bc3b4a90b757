import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../../fixtures/tree.ts'
import { readYaml } from './shipped.ts'

export interface Resource {
  apiVersion: string
  kind: string
  metadata: { name: string }
  spec: Record<string, unknown>
}

interface Deployment {
  replicas: number
  strategy: { rollingUpdate: { maxUnavailable: number } }
  selector: { matchLabels: Record<string, string> }
  template: { metadata: { labels: Record<string, string> }; spec: Pod }
}

interface Pod {
  terminationGracePeriodSeconds: number
  enableServiceLinks: boolean
  securityContext: object
  containers: Container[]
}

export interface Container {
  env: { name: string; value?: string; valueFrom?: object }[]
  ports: { name: string; containerPort: number }[]
  startupProbe: Probe
  livenessProbe: Probe
  readinessProbe: Probe
  securityContext: object
}

interface Probe {
  httpGet: { path: string; port: string }
}

/** The resources of deploy/kubernetes.yaml. */
export function readManifest(): Resource[] {
  return readYaml(readFileSync(join(ROOT, 'deploy/kubernetes.yaml'), 'utf8')) as Resource[]
}

export function deploymentIn(manifest = readManifest()): Deployment {
  return specOf(manifest, 'Deployment') as unknown as Deployment
}

export function podIn(manifest = readManifest()): Pod {
  return deploymentIn(manifest).template.spec
}

export function specOf(manifest: readonly Resource[], kind: string): Resource['spec'] {
  const found = manifest.filter((resource) => resource.kind === kind)
  if (found.length !== 1) throw new Error(`${found.length} resources are a ${kind}`)
  return found[0]!.spec
}
