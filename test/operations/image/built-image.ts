import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { release } from '../../../scripts/release/release.ts'
import { ROOT } from '../../fixtures/tree.ts'
import { bootstrapDebian } from '../debian.ts'

/** The image that a workflow publishes, on a Debian of its own. */
export interface BuiltImage {
  config: ImageConfig
  /** Where the files of a container are. */
  root: string
  /** A folder on a disk. */
  folder: string
  remove(): void
}

export interface ImageConfig {
  User: string
  Env: string[]
  Entrypoint: string[]
  Cmd: string[]
  WorkingDir: string
  Volumes: Record<string, object>
  Labels: Record<string, string>
  StopSignal: string
  Healthcheck: { Test: string[] }
}

const BASE = 'localhost/base'
const IMAGE = 'localhost/server-listing'

/** Takes a minute or two, most of it for Debian's base system, which it downloads. Needs root. */
export function buildImage(): BuiltImage {
  const folder = mkdtempSync(join(tmpdir(), 'server-listing-image-'))
  // No image of this machine takes part.
  const storage = join(folder, 'storage.conf')
  const [store, run] = [join(folder, 'store'), join(folder, 'run')]
  const lines = ['driver = "overlay"', `graphroot = "${store}"`, `runroot = "${run}"`]
  writeFileSync(storage, `[storage]\n${lines.join('\n')}\n`)
  const execute = (program: string, args: string[]) =>
    execFileSync(program, args, {
      cwd: ROOT,
      encoding: 'utf8',
      env: { ...process.env, CONTAINERS_STORAGE_CONF: storage },
      stdio: ['ignore', 'pipe', 'inherit'],
      maxBuffer: 2 ** 26,
    }).trim()
  const buildah = (...args: string[]) => execute('buildah', args)

  const debian = join(folder, 'debian')
  bootstrapDebian(debian)
  copyFileSync(process.execPath, join(debian, 'usr/local/bin/node'))
  const base = buildah('from', 'scratch')
  buildah('add', '--quiet', base, debian, '/')
  buildah('config', '--env', 'PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', base)
  buildah('commit', '--quiet', base, BASE)

  const released = join(folder, 'release')
  release(released)
  const platform = `linux/${process.arch.replace('x64', 'amd64')}`
  const options = ['--build-arg', `BASE=${BASE}`, '--pull-never', '--quiet']
  execute('.ci/image', [released, join(folder, 'image'), platform, ...options])
  const container = buildah('from', '--pull-never', IMAGE)
  return {
    config: JSON.parse(buildah('inspect', '--type', 'image', IMAGE)).Docker.config,
    root: buildah('mount', container),
    folder,
    remove() {
      buildah('umount', '--all')
      buildah('rm', '--all')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
