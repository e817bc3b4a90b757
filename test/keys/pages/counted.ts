import type { KnownClaim } from '../../../src/model/claim.ts'

export function claimWithPlace(index: number): KnownClaim {
  return { outcome: 'limited', apiKeyId: idOf(index), countPlace: { owner: null, number: 0 } }
}

export function idOf(index: number): string {
  return `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`
}
