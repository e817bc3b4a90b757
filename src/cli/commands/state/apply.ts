import type { Command } from 'commander'
import { presentInstant } from '../../../listing/instant.ts'
import { readState } from '../../../listing/state/read-state.ts'
import { count } from '../../../listing/text.ts'
import { confirm, YES } from '../../confirm.ts'
import { changeStore, withStore } from '../../context.ts'
import { readInput } from '../../input.ts'
import { printJson, say } from '../../output.ts'
import { applyPlan } from '../../state/apply-plan.ts'
import { keyFilesBeside, parseJson, planOrRefuse, refusal } from '../../state/read-file.ts'
import { countChanges, planJson, sayPlan } from '../../state/show-plan.ts'

export function addApplyCommand(program: Command): void {
  program
    .command('apply')
    .description('make users, organizations, keys and servers as a state file declares them')
    .argument('<file>', 'the state file, JSON; - for standard input')
    .option('--dry-run', 'only print the plan')
    .option('--prune', 'remove what the file leaves out, of the users that it has')
    .option(...YES)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
The command prints a plan first. On a terminal it asks. Elsewhere it needs --yes. A second run makes
no changes. With --prune it deletes servers, ends memberships and revokes keys that the file leaves
out. It removes no users or organizations, and a revoked key stays revoked. docs/declared-state.md
describes the file.

Examples:
  server-listing apply state.json --dry-run
  server-listing apply state.json --prune --yes
  server-listing export | server-listing apply - --dry-run`,
    )
    .action(apply)
}

interface ApplyOptions {
  dryRun?: boolean
  prune?: boolean
  yes?: boolean
  json?: boolean
}

async function apply(file: string, options: ApplyOptions): Promise<void> {
  const { dryRun = false, prune = false } = options
  const now = presentInstant()
  const json = parseJson(await readInput(file), file)
  const { state, complaints } = readState(json, now, keyFilesBeside(file))
  if (state === null) throw refusal(file, complaints)
  const run = dryRun ? withStore : changeStore
  await run(async (store) => {
    const plan = await planOrRefuse(store, file, state, complaints, { prune, now })
    sayPlan(plan, store.place)
    const { added, changed, removed } = countChanges(plan)
    const isNeeded = plan.changes.length > 0
    if (isNeeded && !dryRun) {
      await confirm(
        `add ${count(added)}, change ${count(changed)} and remove or revoke ${count(removed)} ` +
          `in ${store.place}`,
        options,
      )
      await applyPlan(store, state, { plan, prune, now: presentInstant() })
    }
    if (options.json) printJson(planJson(plan, !dryRun))
    if (!isNeeded) say('0 changes')
    else if (dryRun) say('nothing was changed')
    else
      say(`${count(added)} added, ${count(changed)} changed, ${count(removed)} removed or revoked`)
  })
}
