// Pages for users come before the API reference, and the API reference before pages for contributors.
var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
  score: ([page, , , , score]) => {
    if (/^(api\/contract|architecture|changelog|conformance|writing-a-backend|tables\/)/.test(page)) return score - 8;
    if (/^(api|index)/.test(page)) return score;
    return page === "operators" ? score + 4 : score + 3;
  },
};
