#include "serve/page.h"

namespace dragoman {

Headers page_headers() {
  return {{"Content-Security-Policy",
           "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "
           "form-action 'none'; frame-ancestors 'none'"},
          {"X-Content-Type-Options", "nosniff"},
          {"Referrer-Policy", "no-referrer"}};
}

const char* const page_html = R"html(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>dragoman</title>
<link rel="stylesheet" href="page.css">
<script src="page.js" defer></script>
</head>
<body>
<header>
  <h1>dragoman</h1>
  <label><span>from</span> <select id="source"></select></label>
  <button id="swap" type="button" title="swap the languages (Alt+S)" aria-label="swap the languages">⇄</button>
  <label><span>into</span> <select id="target"></select></label>
  <label id="key-label" hidden>key <input id="key" type="password" autocomplete="off"></label>
</header>
<main>
  <section>
    <div class="pane">
      <div id="marks" aria-hidden="true"></div>
      <textarea id="text" placeholder="Text to translate" aria-label="text to translate" autofocus spellcheck="false"></textarea>
    </div>
    <p class="soft"><span id="count"></span></p>
  </section>
  <section>
    <div id="translation" lang="" aria-live="polite" aria-label="translation" tabindex="0"></div>
    <p class="soft"><button id="copy" type="button">copy</button> <span id="state" role="status"></span></p>
    <ol id="alternatives" aria-label="alternatives"></ol>
  </section>
</main>
</body>
</html>
)html";

const char* const page_css = R"css(:root { --back: #f6f7f9; --card: #fff; --text: #1d2330; --soft: #667085;
  --line: #e3e6eb; --ink: #1d4ebd; --mark: #dbe6ff; --wrong: #b42318; color-scheme: light dark; }
@media (prefers-color-scheme: dark) {
  :root { --back: #14171d; --card: #1c2028; --text: #e6e8ec; --soft: #9aa1ad; --line: #2d333e; --ink: #7ab0ff;
    --mark: #26406e; --wrong: #ff9d8f; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1300px; padding: 20px; background: var(--back); color: var(--text);
  font: 16px/1.5 system-ui, sans-serif; }
header { display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center; margin-bottom: 14px; }
h1 { font-size: 20px; font-weight: 600; margin: 0 auto 0 0; }
select, button, input { font: inherit; color: inherit; padding: 5px 10px; border: 1px solid var(--line);
  border-radius: 7px; background: var(--card); }
button { cursor: pointer; }
main { display: grid; grid-template-columns: 1fr 1fr; gap: 16px; }
.pane { position: relative; border-radius: 10px; background: var(--card); }
textarea, #translation, #marks { display: block; width: 100%; min-height: 45vh; padding: 14px;
  border: 1px solid var(--line); border-radius: 10px; font: 18px/1.55 system-ui, sans-serif; white-space: pre-wrap;
  overflow-wrap: anywhere; }
textarea { position: relative; background: none; color: inherit; resize: none; }
#translation { background: var(--card); }
#translation.pending { color: var(--soft); }
#marks { position: absolute; inset: 0; overflow: hidden; color: transparent; border-color: transparent; }
#translation span.at, #marks span { background: var(--mark); border-radius: 4px; }
:focus-visible { outline: 2px solid var(--ink); outline-offset: 1px; }
.soft { color: var(--soft); font-size: 14px; margin: 8px 2px; min-height: 32px; }
#state.wrong { color: var(--wrong); }
#alternatives { margin: 0; padding: 0; list-style: none; }
#alternatives li { padding: 8px 14px; border: 1px solid var(--line); border-radius: 8px; background: var(--card);
  margin-bottom: 6px; overflow-wrap: anywhere; white-space: pre-wrap; }
@media (max-width: 760px) {
  body { padding: 12px; }
  header { gap: 8px; }
  header span { position: absolute; clip-path: inset(50%); }  /* read out, but not shown */
  main { grid-template-columns: 1fr; }
  textarea, #translation, #marks { min-height: 28vh; }
}
)css";

}  // namespace dragoman
