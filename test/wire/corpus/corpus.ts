import { BODIES, FRAMING } from './bodies.ts'
import type { Case } from './case.ts'
import { CREDENTIALS, SEQUENCES } from './credentials.ts'
import { HOSTS, IGNORED, SYNTAX } from './header-fields.ts'
import { METHODS, NOISE, TARGETS, VERSIONS } from './request-lines.ts'

/** All handwritten cases, by subject. */
export const CORPUS: Record<string, Case[]> = {
  versions: VERSIONS,
  methods: METHODS,
  targets: TARGETS,
  noise: NOISE,
  hosts: HOSTS,
  syntax: SYNTAX,
  ignored: IGNORED,
  framing: FRAMING,
  bodies: BODIES,
  credentials: CREDENTIALS,
  sequences: SEQUENCES,
}
