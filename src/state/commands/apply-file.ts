import { presentInstant } from '../../model/instant.ts'
import { readState } from '../read-state.ts'
import { count } from '../../model/text.ts'
import { confirm } from '../../terminal/confirm.ts'
import { changeStore, withStore } from '../../terminal/context.ts'
import { readInput } from '../../terminal/input.ts'
import { printJson, say } from '../../terminal/output.ts'
import type { Shell } from '../../terminal/shell.ts'
import { applyPlans } from './apply-plans.ts'
import { planFile } from './plan-file.ts'
import { keyFilesBeside, parseJson } from './read-file.ts'
import { countChanges, planJson, sayChanges, sayPlan } from './show-plan.ts'

export interface ApplyOptions {
  dryRun?: boolean
  prune?: boolean
  yes?: boolean
  json?: boolean
}

/** `apply`: checks the file, prints the plan, asks and makes the changes. */
export async function applyFile(shell: Shell, file: string, options: ApplyOptions): Promise<void> {
  const { dryRun = false, prune = false } = options
  const now = presentInstant()
  const json = parseJson(await readInput(shell, file), file)
  const read = readState(json, now, keyFilesBeside(file))
  const run = dryRun ? withStore : changeStore
  await run(shell, async (store) => {
    const { plans, ...planned } = await planFile(store.database, file, read, { prune, now })
    sayPlan(shell, plans, store.place)
    const { added, changed, removed } = countChanges(plans)
    const isNeeded = added + changed + removed > 0
    if (isNeeded && !dryRun) {
      await confirm(
        shell,
        `add ${count(added)}, change ${count(changed)} and remove or revoke ${count(removed)} ` +
          `in ${store.place}`,
        options,
      )
      await applyPlans(shell, store, plans, planned.options, 'state applied')
    }
    if (options.json) printJson(shell, planJson(plans, !dryRun))
    if (!isNeeded) say(shell, '0 changes')
    else if (dryRun) say(shell, 'nothing was changed')
    else say(shell, sayChanges(plans))
  })
}
