import assert from 'node:assert/strict'
import type { Finding } from '../../../src/model/health/finding.ts'
import type { Program } from '../program.ts'

/** What `doctor --json` finds, by check. The exit code must agree with the states. */
export async function diagnose(
  program: Pick<Program, 'run'>,
  env: Record<string, string> = {},
  args: readonly string[] = [],
): Promise<Record<string, Finding>> {
  const { code, stdout, stderr } = await program.run(['doctor', '--json', ...args], { env })
  const findings = JSON.parse(stdout) as Finding[]
  const problems = findings.filter(({ state }) => state === 'problem').length
  assert.equal(code, problems === 0 ? 0 : 1, stderr)
  if (problems > 0) assert.match(stderr, new RegExp(`^error: the doctor found ${problems} problem`))
  else assert.equal(stderr, '')
  for (const { state, advice } of findings) assert.equal(advice === null, state === 'ok')
  return Object.fromEntries(findings.map((finding) => [finding.check, finding]))
}

/** The checks that are not `ok`, each with its state. The machine decides about the disk. */
export function statesOf(findings: Record<string, Finding>): Record<string, string> {
  return Object.fromEntries(
    Object.values(findings)
      .filter(({ check, state }) => state !== 'ok' && check !== 'disk')
      .map(({ check, state }) => [check, state]),
  )
}
