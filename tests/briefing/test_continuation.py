"""Whether a message only asks to go on: as users of many languages write it, and what is more."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.briefing.continuation import (
    CHARACTERS_MAX,
    asks_to_go_on,
    is_continuation,
    normalized,
)

GOES_ON = {
    "en": """
        continue|Continue|CONTINUE|continue.|continue!|continue...|Continue?|  continue  |"continue"
        'continue'|`continue`|**continue**|> continue|continue 🙏|👍 continue|▶️ continue|cont|contd.
        continue please|please continue|Please, continue.|ok continue|OK, continue|ok, please continue!
        yes continue|yes, go ahead|Yes. Go ahead.|sure, go ahead|go ahead|Go ahead!|go ahead please
        go ahead with the plan|great, go on|go on|go on then|go on, please|keep going|Keep going!
        keep going please|just keep going|keep working|keep at it|carry on|carry on please|proceed
        Please proceed|ok proceed|proceed as planned|you may proceed|resume|resume please|resume work
        next|next!|next please|next step|ok next|next one please|next task|move on|move to the next step
        go|go!|go go go|let's go|let's continue|Let’s continue|and now?|now what?|what now?|what's next?
        What’s next|and then?|and next?|do it|yes do it|ok, do it|yes please do|do the next step
        pick up where we left off|pick up where you left off|continue where you left off
        Continue from where you left off.|continue from where we left off please|continue with the plan
        continue with it|continue with the next step|continue with the remaining tasks|finish it
        continue until you are done|continue until done|don't stop|finish the job|looks good, continue
        lgtm, proceed|thanks, continue|perfect, next|cool, keep going|alright, carry on|can you continue?
        could you continue please|I want you to continue|you can continue|continue your work
        continue the conversation|continue with your work|hi, please continue""",
    "de": """
        weiter|Weiter!|weiter bitte|bitte weiter|mach weiter|Mach weiter.|mach bitte weiter|ok, weiter
        ja, mach weiter|weitermachen|fahre fort|bitte fortfahren|und jetzt?|und weiter?|was jetzt?
        nächster Schritt|nächster schritt bitte|naechster|weiter mit dem nächsten Schritt|los|leg los
        mach weiter wie geplant|gut, mach weiter|nur zu""",
    "fr": """
        continue s'il te plaît|continuez|Continuez, s'il vous plaît|vas-y|Vas-y !|allez-y|oui, vas-y
        ok continue stp|poursuis|poursuivez|la suite|suivant|étape suivante|et maintenant ?|reprends
        d'accord, continue|parfait, continue|continue là où tu en étais""",
    "es": """
        continúa|continua|Continúa, por favor|sigue|sigue adelante|Sí, adelante|adelante|dale|vale, sigue
        continúe|siguiente|siguiente paso|¿y ahora?|¿Y ahora qué?|ok sigue|por favor continúa|prosigue
        continúa con el siguiente paso|perfecto, continúa|continúa donde lo dejaste""",
    "it": """
        continua|continua per favore|vai avanti|avanti|sì, vai avanti|ok prosegui|procedi|prossimo passo
        e adesso?|e ora?|va bene, continua|riprendi""",
    "pt": """
        continue por favor|continua|sim, continue|pode continuar|prossiga|siga em frente|segue|próximo
        próximo passo|e agora?|beleza, continue|continue de onde parou""",
    "nl": "ga door|ga verder|ga maar door|verder|ja, ga door|volgende|volgende stap|en nu?|doorgaan",
    "pl": "kontynuuj|kontynuuj proszę|dalej|tak, dalej|następny krok|następny|co dalej?|działaj dalej",
    "ru": """
        продолжай|Продолжай!|продолжайте|продолжи|дальше|давай дальше|да, продолжай|ок, дальше
        продолжай, пожалуйста|следующий шаг|далее|поехали|и что теперь?|вперёд|хорошо, продолжай""",
    "uk": "продовжуй|продовжуйте|далі|так, продовжуй|наступний крок|будь ласка, продовжуй|що далі?",
    "zh": """
        继续|继续。|继续！|继续吧|请继续|好的，继续|好，继续|可以，继续|继续执行|继续做|接着做|下一步|然后呢？|接下来呢
        继续完成剩下的任务|繼續|請繼續|好的繼續|下一個|嗯，继续|行，继续吧|继续下一步""",
    "ja": """
        続けて|続けてください|続けて下さい。|はい、続けてください|続行|続行してください|次|次へ|次に進んで
        次をお願いします|続きをお願いします|進めてください|では、続けて|了解、続けて|再開して|つづけて""",
    "ko": """
        계속|계속해|계속해줘|계속해 주세요|계속 진행해줘|네, 계속해주세요|진행해|진행해 주세요|다음|다음 단계
        이어서 해줘|응 계속|좋아, 계속해|계속 진행""",
    "tr": "devam|devam et|Devam et lütfen|tamam, devam|evet devam et|ilerle|sonraki adım|devam edin",
    "ar": "استمر|تابع|نعم، استمر|أكمل|اكمل من فضلك|واصل|التالي|حسنا، تابع|يلا",
    "hi": "जारी रखें|जारी रखो|हाँ, जारी रखें|आगे बढ़ो|कृपया जारी रखें|अगला|ठीक है, आगे बढ़ें|aage badho",
    "others": """
        tiếp tục|tiếp tục đi|lanjutkan|ok lanjut|lanjut|ทำต่อ|ทำต่อเลยครับ|ต่อไป|המשך|תמשיך|ادامه بده
        fortsätt|fortsæt|kjør videre|jatka|pokračuj|folytasd|συνέχισε|продължавай|nastavi|continuă""",
}  # fmt: skip

PHRASES = [
    (language, phrase.strip())
    for language, text in GOES_ON.items()
    for phrase in text.replace("\n", "|").split("|")
    if phrase.strip()
]

ASKS = """
continue with sqlite instead|continue with X instead|next, rename foo|go ahead and delete the tests
continue but use sqlite|continue, but skip the tests|go ahead, including the rename|go back
continue with step 3|continue 2|go ahead and commit|ok continue and push it|keep going but faster
proceed with option B|yes|ok|yes, commit it|yes, do 1|no|no, stop|stop|don't continue|do not continue
don't go on|no go|next time use tabs|next, please run the linter|resume the download feature
continue.py|src/next.py|continue statement is missing|what does continue do?|this next|the plan, then go?
carry on with the login page|what's next in the file?|and now add tests|why did you stop?|undo
are you done?|try again|do it again|but also continue your analysis|go to line 5|please|thanks!|?|...
continue after fixing the bug|next(iterator)|go test ./...|go build|can you continue with the docs
weiter mit den Tests|mach weiter, aber nutze sqlite|mach das Fenster zu|nächster Fehler: foo
continue avec sqlite|vas-y, supprime les tests|continúa con las pruebas|sigue pero usa sqlite
continua con i test|continue com os testes|ga door met de tests|dalej, ale bez testów
продолжай, но без тестов|дальше переименуй foo|продовжуй, але без тестів|继续修复登录问题|继续，但是用sqlite
下一步删除测试|続けて、でもsqliteを使って|次はテストを書いて|テストを続けて|계속하되 sqlite를 써줘|다음은 테스트를 작성해줘
devam et ama sqlite kullan|testlere devam et|استمر لكن استخدم sqlite|जारी रखें लेकिन sqlite से|لا تستمر|не продолжай
不要继续|별로 계속|やめて|停止|停|nicht weiter|ne continue pas|no continúes|non continuare|não continue
"""  # fmt: skip

NEW = [each.strip() for each in ASKS.replace("\n", "|").split("|") if each.strip()]


def test_who_asks_to_go_on_is_understood():
    missed = [
        f"{language}: {phrase!r} is normalized to {normalized(phrase)!r}"
        for language, phrase in PHRASES
        if not is_continuation(phrase)
    ]
    assert missed == []


def test_what_says_more_is_a_new_request():
    assert list(filter(is_continuation, NEW)) == []


def test_the_table_is_as_large_as_it_is_said_to_be():
    assert len(PHRASES) >= 200
    assert len(NEW) >= 60


@pytest.mark.parametrize("tag", ["task", "user_message", "feedback", "user_query"])
def test_what_hosts_put_around_a_person_s_words_is_no_matter(tag):
    assert is_continuation(f"<{tag}>\ncontinue\n</{tag}>")
    assert not is_continuation(f"<{tag}>\nadd tests\n</{tag}>")


@pytest.mark.parametrize(
    "text", ["", " \n", "🚀", "👍", "continue " * 100, "please " * 20, "<task></task>"]
)
def test_nothing_and_too_much_is_none(text):
    assert not is_continuation(text)


@pytest.mark.wide
def test_blanks_around_it_cost_nothing_and_long_texts_are_not_read():
    assert is_continuation(" " * 1_000_000 + "continue" + "\n" * 1_000_000)
    for text in ("go " * 5_000_000, "<task>" * 2_000_000, "ﷺ" * CHARACTERS_MAX, "go" * 80):
        assert not is_continuation(text)


@given(
    st.sampled_from([each for _, each in PHRASES]),
    st.text(alphabet='!?.,;:-*_>()[]~ \t\n"`…。！？、👍🚀✅', max_size=20),
)
def test_case_and_signs_around_it_change_nothing(phrase, signs):
    assert is_continuation(f"{signs} {phrase.upper()} {signs}")


@given(st.text(max_size=300))
def test_any_text_is_answered(text):
    assert is_continuation(text) in (True, False)


@given(st.sampled_from(["refactor", "src/a.py", "sqlite", "тест", "测试", "#12", "7"]))
def test_a_word_of_content_makes_it_a_request(word):
    assert not is_continuation(f"continue {word}")
    assert not is_continuation(f"{word}, continue")


WITH_NEWS = """
continue with...|go ahead...|continue with the tests|proceed with step 3|go ahead and update the tests
ok, proceed with option B|keep going but faster|yes, go ahead and commit|next step: write the docs
continue by adding a test for it|resume the download feature|OK. Continue with sqlite instead
weiter mit den Tests|mach weiter, aber nutze sqlite|continue avec sqlite|vas-y, supprime les tests
continúa con las pruebas|sigue pero usa sqlite|continua con i test|continue com os testes
ga door met de tests|dalej z testami|продолжай, но без тестов|продовжуй, але без тестів
继续修复登录问题|好的，继续，但是用sqlite|テストを続けてください|続けて、でもsqliteを使って|테스트를 계속해줘
testlere devam et|استمر لكن استخدم sqlite|जारी रखें लेकिन sqlite से
"""

NEWS_ALONE = """
yes|ok|no, stop|don't continue|do not go on|go back|go to line 5|next time use tabs|go build
continue statement is missing|what does continue do?|src/next.py|next(iterator)|why did you stop?
undo|add tests|fix the continue button|nicht weiter|ne continue pas|no continúes|не продолжай|不要继续|停
"""


def listed(text):
    return [each.strip() for each in text.replace("\n", "|").split("|") if each.strip()]


def test_a_message_may_ask_to_go_on_with_something():
    assert [each for each in listed(WITH_NEWS) if not asks_to_go_on(each)] == []
    assert [each for each in listed(WITH_NEWS)[2:] if is_continuation(each)] == []
    assert [phrase for _, phrase in PHRASES if not asks_to_go_on(phrase)] == []


def test_a_message_with_news_alone_asks_for_nothing_of_the_kind():
    assert list(filter(asks_to_go_on, listed(NEWS_ALONE))) == []


def test_the_settings_have_further_beginnings():
    assert not asks_to_go_on("Ejo, përpara me testet")
    assert asks_to_go_on("Përpara me testet", ["përpara"])
    assert not asks_to_go_on("Përparandra", ["përpara"])
    assert asks_to_go_on("ok, Përpara!", ["  PËRPARA "])


@given(st.text(max_size=300), st.lists(st.text(max_size=5), max_size=3))
def test_any_text_and_any_beginnings_are_answered(text, own):
    assert asks_to_go_on(text, own) in (True, False)
