import { CLAIMS_POSTGRES } from './claims-postgres.ts'
import { DASHBOARD } from './dashboard.ts'
import { FRONT } from './front.ts'
import type { Mutant } from './mutant.ts'
import { POSTGRES } from './postgres.ts'
import { SQLITE_FAULTS } from './sqlite-faults.ts'
import { SQLITE } from './sqlite.ts'

export const MUTANTS: readonly Mutant[] = [
  ...FRONT,
  ...CLAIMS_POSTGRES,
  ...POSTGRES,
  ...DASHBOARD,
  ...SQLITE,
  ...SQLITE_FAULTS,
]
