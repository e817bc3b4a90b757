/** The documents outside the guides whose commands walk.test.ts runs. */
export const WALKED = [
  'README.md',
  'docs/api.md',
  'docs/commands.md',
  'docs/dashboard.md',
  'docs/management.md',
  'docs/monitoring.md',
]
