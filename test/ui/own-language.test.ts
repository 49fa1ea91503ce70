import { expect } from 'chai';
import { refusalTexts } from '../../crds/user-faults.ts';
import { LANGUAGES } from '../../api/pages/page.ts';
import { inOwnLanguage } from '../../api/ui/connection/own-language.ts';
import { messages } from '../../api/ui/messages/de.ts';

describe('a refusal of the API in the admin UI', () => {
  for (const language of LANGUAGES) {
    const say = messages[language];
    const own = new Map<string, string>(Object.entries(say.refusals));
    for (const [name, text] of Object.entries(refusalTexts)) {
      it(`has a sentence in the language of the user: ${name}, ${language}`, () => {
        for (const sent of [text, `email ${text}`])
          expect(inOwnLanguage({ email: [sent] }, say)).to.deep.equal({ email: [own.get(name)] });
      });
    }

    it(`is shown as the API words it if the UI has no sentence for it: ${language}`, () => {
      expect(inOwnLanguage({ email: ['is odd'] }, say)).to.deep.equal({ email: ['is odd'] });
    });
  }
});
