import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { release } from '../../../scripts/release/release.ts'
import { ROOT } from '../../fixtures/tree.ts'
import { bootstrapDebian } from '../debian.ts'

/** The image that the `Dockerfile` of a release builds, on a Debian of its own. */
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
export function buildImage(version: string): BuiltImage {
  const folder = mkdtempSync(join(tmpdir(), 'server-listing-image-'))
  // No image of this machine takes part.
  const store = ['--root', join(folder, 'store'), '--runroot', join(folder, 'run')]
  const buildah = (...args: string[]) =>
    execFileSync('buildah', [...store, '--storage-driver', 'overlay', ...args], {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
      maxBuffer: 2 ** 26,
    }).trim()

  const debian = join(folder, 'debian')
  bootstrapDebian(debian)
  copyFileSync(process.execPath, join(debian, 'usr/local/bin/node'))
  const base = buildah('from', 'scratch')
  buildah('add', '--quiet', base, debian, '/')
  buildah('config', '--env', 'PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', base)
  buildah('commit', '--quiet', base, BASE)

  const released = join(folder, 'release')
  const { dockerfile } = release(released)
  const values = [`BASE=${BASE}`, `VERSION=${version}`].flatMap((each) => ['--build-arg', each])
  const options = ['--isolation', 'chroot', '--format', 'docker', '--pull-never', '--quiet']
  buildah('build', ...options, ...values, '--file', dockerfile, '--tag', IMAGE, released)
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
