import type { Command } from '../command.ts';
import { usageError } from '../cli-error.ts';
import { boxName, serverTarget } from '../current-box.ts';
import { textOption } from '../option-values.ts';

/** `boxctl box use`. */
export const useBox: Command = {
  name: 'box use',
  synopsis: '<box> [--server <URL>]',
  summary: 'chooses the box, and with --server its installation, of later commands',
  examples: ['boxctl box use shop --server https://auth.example.com', 'boxctl box use default'],
  hasNoRecord: true,
  arguments: [1, 1],
  async run({ args: [box = ''], values, state, terminal }) {
    const server = textOption(values, 'server');
    const name = boxName(box, 'the box');
    const kept = await state.read();
    const target = server === undefined ? undefined : await serverTarget(server, '--server');
    const { installation, box: addressed = name } = target ?? {};
    if (installation !== undefined && addressed !== name)
      throw usageError(`--server is the address of the box ${addressed}, not of ${name}`);
    const base = target?.base ?? (server === undefined && kept.box === name ? kept.base : undefined);
    if (server === undefined && kept.server === undefined && base === undefined)
      terminal.messages.write(
        'boxctl: no installation is chosen yet: add --server <public URL>, or set BOXCTL_SERVER\n',
      );
    await state.write({ box: name, base, ...(server === undefined ? {} : { server: installation }) });
    terminal.output.write(
      `Later commands use the box ${name}, unless --box, BOXCTL_BOX or a kube context names another.\n`,
    );
  },
};
