import type { KnownClaim } from '../../../src/model/claim.ts'

export function limitedClaim(index: number): KnownClaim {
  return { outcome: 'limited', apiKeyId: idOf(index) }
}

export function idOf(index: number): string {
  return `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`
}
