"""Recognise a message that only asks to go on, in many languages.

"Continue, please" is such a message. "Continue with the tests instead" is a new request: it has news
for the agent. A text is a continuation when it consists of phrases of these tables, and one of them
means to go on. A bare "yes" answers a question and is no continuation.
"""

from __future__ import annotations

import re
from unicodedata import category, normalize

CHARACTERS_MAX = 160
"""Characters of a continuation, without the blanks and tags around it."""

BARRED = str.maketrans("łıøđ", "liod")
"""Letters with a stroke or without a dot; Unicode does not decompose them."""

WRAPPED = re.compile(r"<(task|user_message|feedback|answer|user_query)>(.*)</\1>", re.DOTALL)
"""Tags that hosts put around a person's words."""

GO_ON = """
continue; continue on; continuing; cont; contd; cotinue; contiune; continune; contine; go on; go
go ahead; go for it; keep going; keep on; keep on going; keep at it; keep working
keep working on it; carry on; proceed; resume; next; next one; next step; next task; next part
next item; next todo; next phase; move on; move along; on we go; onward; onwards; press on; push on
finish; finish it; finish up; complete it; complete the task; do it; do the rest; please do; yes do
do so; next up; continue again; resume again; move to the next step; move to the next task
move to next step; move to the next one; move to the next phase; do the next one; do the next step
do the next task; pick up where you left off; pick up where we left off
pick it up where you left off; start where you left off; back to work; back to it; get going
get on with it; let us continue; lets continue; let us go; lets go; lets go on; lets keep going
lets move on; lets proceed; lets do it; you can continue; you can go on; you can proceed
you may continue; you may proceed; feel free to continue; what is next; whats next; what now
and now; now what; and then; then what; dont stop; do not stop; make it so; full steam ahead
try to continue; i want you to continue; i would like you to continue; can you continue
could you continue; would you continue; can you go on; can you keep going; can you proceed
can you resume; as you were; roll on; weiter; mach weiter; mach bitte weiter; mach ruhig weiter
naechster; naechster schritt; naechste; machen sie weiter; weitermachen; mache weiter; fahre fort
fahr fort; fahren sie fort; fortfahren; fortsetzen; setze fort; setz fort; weiter gehts; geh weiter
los; los gehts; leg los; nachster; nachster schritt; nachste; nachste aufgabe; der nachste
und jetzt; und weiter; und nun; was jetzt; was nun; was kommt als nachstes; als nachstes; mach das
tu es; mach es; mach fertig; mach es fertig; beende es; nur zu; wie gehts weiter
wie geht es weiter; lass uns weitermachen; nicht aufhoren; kannst du weitermachen
du kannst weitermachen; continuez; continuer; continuons; poursuis; poursuivez; poursuivre
poursuivons; vas y; allez y; on continue; suivant; suivante; etape suivante; la suite; suite
passe a la suite; passez a la suite; et maintenant; et ensuite; et apres; ensuite; reprends
reprenez; reprendre; termine; terminez; finis; en avant; tu peux continuer; vous pouvez continuer
continua; continue con eso; continuar; continuad; continuemos; sigue; siga; seguir; sigamos
seguimos; sigue trabajando; sigue con eso; adelante; prosigue; prosiga; proseguir; reanuda
reanudar; siguiente; el siguiente; la siguiente; siguiente paso; proximo; proximo paso; y ahora
ahora que; que sigue; que mas; hazlo; dale; venga; vamos; termina; terminalo; puedes continuar
puede continuar; puedes seguir; continui; continuiamo; continuare; vada avanti; avanti
andiamo avanti; prosegui; prosegua; proseguire; proseguiamo; riprendi; riprendere; prossimo
prossima; prossimo passo; il prossimo; il prossimo passo; e adesso; e ora; e poi; vai; vai pure
procedi; proceda; fallo; finisci; puoi continuare; puo continuare; va avanti; continuem; prossiga
prossigam; prosseguir; prossegue; segue; em frente; avante; avance; proxima; proxima etapa
proximo passo; passo seguinte; seguinte; e agora; e depois; e ai; o que vem agora; retome; retomar
retoma; faca isso; pode continuar; podes continuar; pode seguir; pode prosseguir; bora; vamos la
manda ver; ga door; ga verder; ga maar door; ga maar verder; doorgaan; verder; verdergaan; vervolg
hervat; volgende; volgende stap; de volgende; en nu; wat nu; wat is de volgende; en dan; ga je gang
doe het; maak af; maak het af; vooruit; toe maar; je kunt doorgaan; je kan doorgaan; kontynuuj
kontynuujmy; kontynuowac; kontynuacja; dalej; idz dalej; jedz dalej; lec dalej; dzialaj; rob dalej
pracuj dalej; kolejny; kolejne; kolejny krok; nastepny; nastepny krok; nastepne; wznow; co dalej
i co teraz; co teraz; i co dalej; no dalej; zrob to; dokoncz; dokoncz to; mozesz kontynuowac
naprzod; przejdz dalej; продолжай; продолжайте; продолжить; продолжи; продолжаем; продолжим
продолжение; дальше; идем дальше; иди дальше; далее; следующий; следующее; следующая; следующий шаг
следующий этап; давай; вперед; поехали; действуй; приступай; и что теперь; что дальше; а дальше
что теперь; а теперь; и дальше; делай; возобнови; возобновить; заверши; закончи; можешь продолжать
можете продолжать; не останавливайся; работай дальше; го; валяй; продовжуй; продовжуйте; продовжити
продовжуємо; продовжимо; далі; йдемо далі; іди далі; наступний; наступний крок; наступне; що далі
а тепер; а далі; роби; дій; віднови; закінчи; можеш продовжувати; 继续; 继续进行; 继续干; 继续下去
接着; 接着来; 接着干; 往下; 往下走; 下一步; 下一个; 下一项; 然后呢; 接下来; 现在呢; 开始吧; 执行
做吧; 干吧; 别停; 不要停; 还有呢; 恢复; 进行下一步; 完成它; 去做吧; 动手吧; 繼續; 繼續進行
繼續執行; 接著; 下一個; 然後呢; 接下來; 現在呢; 続けて; 続けてくれ; 続ける; 続行; 続行して; 続き
続きを; 続きから; つづけて; つづき; 継続; 継続して; 次; 次へ; 次に; 次は; 次に進んで; 次へ進んで
次をお願いします; 進めて; 先に進んで; どうぞ; やって; 再開; 再開して; それで; 次のステップ
次のタスク; 最後までやって; 止まらないで; どんどん進めて; 계속; 계속해요; 계속하세요; 계속하자
계속해라; 진행; 진행하세요; 진행하자; 진행시켜; 이어서; 다음; 다음 단계; 다음은; 다음으로
다음 단계로; 그 다음; 그다음은; 이제; 이제는; 해줘; 해주세요; 가자; 고고; 마저 해; 멈추지 마; 재개
devam; devam et; devam edin; devam ediniz; devam edelim; devam edebilirsin; devam edebilirsiniz
surdur; surdurun; ilerle; ilerleyin; sonraki; sonraki adim; sıradaki; sıradaki adim; hadi; haydi
basla; simdi ne; peki simdi; ya simdi; sonra; yap; bitir; durma; استمر; استمري; استمروا; تابع
تابعي; تابعوا; واصل; واصلي; اكمل; كمل; كملي; اكملي; التالي; الخطوة التالية; والان; وماذا الان
ماذا بعد; ثم ماذا; هيا; يلا; امض; امض قدما; تفضل; لا تتوقف; استأنف; जारी रखो; जारी रखें; जारी रखिए
जारी रखिये; जारी; आगे; आगे बढ़ो; आगे बढ़ें; आगे बढ़िए; आगे चलो; चालू रखो; चालू रखें; चलते रहो
करते रहो; करते रहें; अगला; अगला कदम; अब क्या; और अब; फिर; करो; jari rakho; aage badho; aage
aage chalo; karte raho; chalu rakho; চালিয়ে যাও; চালিয়ে যান; এগিয়ে যাও; এগিয়ে যান; পরবর্তী; তারপর
tiep tuc; tiếp; tiếp theo; bước tiếp theo; làm tiếp; cứ tiếp tục; lanjut; lanjutkan; teruskan
terus; lanjutin; berikutnya; selanjutnya; langkah selanjutnya; langkah berikutnya; sekarang apa
ayo lanjut; gas; teruskan kerja; ทำต่อ; ทำต่อไป; ต่อ; ต่อไป; ดำเนินการต่อ; ขั้นตอนต่อไป; ถัดไป; ไปต่อ
แล้วไงต่อ; המשך; המשיכי; המשיכו; תמשיך; תמשיכי; תמשיכו; להמשיך; הלאה; הבא; השלב הבא; קדימה; ומה עכשיו
מה הלאה; ادامه; ادامه بده; ادامه دهید; ادامه بدهید; بعدی; مرحله بعد; بعدش; خب بعد; برو; برو جلو
fortsatt; fortsæt; fortsett; gå vidare; gå videre; vidare; videre; nästa; næste; neste; nästa steg
næste skridt; neste steg; kör; kjør; och nu; og nu; og nå; vad händer nu; jatka; jatketaan
jatka vaan; seuraava; seuraava vaihe; eteenpäin; entä nyt; pokračuj; pokračujte; pokračovat; dál
jeď dál; další; další krok; a teď; co dál; co teď; a teraz; folytasd; folytassa; folytatás; tovább
menj tovább; mehet; következő; következő lépés; és most; continuați; mergi mai departe; mai departe
următorul; următorul pas; și acum; dă-i drumul; συνέχισε; συνεχίστε; συνέχεια; προχώρα; προχωρήστε
επόμενο; επόμενο βήμα; και τώρα; πάμε; продължи; продължавай; продължете; напред; следващ
следваща стъпка; а сега; nastavi; nastavite; idemo dalje; dalje; idi dalje; sljedeće
sljedeći korak; sledeći; sledeći korak; šta sad; наставите; настави; даље; идемо даље; следећи
tęsk; tęskite; toliau; turpini; turpināt; tālāk; edasi; endelea; ituloy mo; ituloy; magpatuloy
tuloy; tuloy lang; தொடரவும்; தொடர்; కొనసాగించు; కొనసాగించండి; segueix; endavant; següent; i ara
jarraitu; aurrera; davom et; жалғастыр; davam et; продолжуй
"""
"""Phrases that mean to go on. Accents do not matter. Phrases that consist of other phrases of these
tables are not listed."""

BESIDE = """
please; pls; plz; plse; ok; okay; okey; oki; k; kk; okie; okie dokie; alright; all right; right
yes; yep; yeah; yup; ya; yea; y; sure; sure thing; fine; good; great; nice; cool; perfect
excellent; awesome; super; wonderful; very good; very nice; good job; great job; nice job
well done; good work; great work; nice work; looks good; lgtm; looks great; sounds good; thats good
that is good; thats fine; that is fine; thats right; that works; works; correct; exactly; agreed
understood; got it; i see; makes sense; thanks; thank you; thx; ty; thanks a lot
thank you very much; many thanks; cheers; tnx; and; so; then; now; just; well; hey; hi; hello
absolutely; definitely; of course; certainly; by all means; no problem; no worries; np; sorry
my bad; oops; im back; i am back; here we go; there you go; for now; from here; from there; as well
for me; with that; with this; with it; dude; man; bro; mate; buddy; sir; friend; claude; bitte; ja
jo; jep; genau; gut; sehr gut; prima; super gemacht; danke; dankeschon; vielen dank; einfach; also
dann; jetzt; doch; mal; klar; alles klar; passt; in ordnung; damit; noch; so weiter; oui; ouais
sil te plait; sil vous plait; svp; stp; merci; merci beaucoup; daccord; bien; tres bien; parfait
alors; donc; bon; maintenant; si; sip; vale; por favor; porfa; gracias; muchas gracias; muy bien
perfecto; bueno; entonces; ahora; claro; de acuerdo; listo; esta bien; genial; pues; per favore
per piacere; grazie; bene; va bene; perfetto; certo; allora; ora; adesso; dai; ottimo; sim
obrigado; obrigada; perfeito; ta; ta bom; tudo bem; beleza; blz; entao; agora; otimo; pfv
alstublieft; aub; graag; bedankt; dank je; dank u; goed; nu; dan; maar; hoor; tak; prosze; dzieki
dziekuje; dobrze; dobra; swietnie; teraz; да; пожалуйста; плиз; спасибо; хорошо; ладно; ок; окей
отлично; супер; ну; теперь; тогда; верно; правильно; так; будь ласка; дякую; добре; гаразд; чудово
тепер; тоді; 好; 好的; 好呀; 好哒; 行; 可以; 嗯; 对; 是; 是的; 没问题; 请; 請; 谢谢; 謝謝; 吧; 了
啊; 呢; 那; 就; 现在; 你; 很好; はい; うん; ええ; よし; では; じゃあ; それでは; お願いします
お願い; おねがいします; ください; 下さい; ありがとう; ありがとうございます; いいよ; いいですね
いいね; オーケー; オッケー; わかりました; 了解; 了解です; ね; よ; このまま; そのまま; 네; 예; 응
어; 그래; 좋아; 좋아요; 좋습니다; 알겠어; 알겠습니다; 부탁해; 부탁해요; 부탁합니다; 부탁드립니다
감사합니다; 고마워; 오케이; 그럼; 자; 제발; 좀; 주세요; 줘; 줘요; 주십시오; 해; 이대로; 그대로
evet; tamam; lutfen; tesekkurler; sagol; peki; guzel; harika; olur; simdi; tabii; hayhay; نعم; حسنا
تمام; من فضلك; لو سمحت; رجاء; شكرا; جيد; ممتاز; طيب; الان; اوك; اوكي; हाँ; जी; ठीक है; ठीक; कृपया
धन्यवाद; अच्छा; बहुत अच्छा; अब; तो; haan; ha; theek hai; thik hai; acha; kripya; হ্যাঁ; ঠিক আছে
দয়া করে; vâng; dạ; được; được rồi; làm ơn; cảm ơn; đi; nhé; ừ; iya; oke; baik; tolong; silakan
terima kasih; dong; yuk; saja; ครับ; ค่ะ; ได้เลย; เลย; ตกลง; โอเค; ขอบคุณ; ใช่; כן; בבקשה; תודה; טוב
אוקיי; סבבה; بله; باشه; لطفا; ممنون; خوب; اوکی; tack; snälla; gärna; bra; okej; takk; vær så snill
fint; joo; kyllä; kiitos; hyvä; ano; prosím; díky; děkuji; dobře; ďakujem; igen; kérlek; köszönöm
rendben; te rog; mulțumesc; bine; bun; ναι; παρακαλώ; ευχαριστώ; εντάξει; ωραία; моля; molim; hvala
dobro; u redu; sige; salamat; oo; po; ndiyo; tafadhali
"""
"""Phrases that may stand beside a phrase to go on."""

AFTERWARDS = """
with the plan; with your plan; as planned; as discussed; as before; the plan; the work; the task
work; the job; working; working on it; working on this; working on the task; with the work
with the task; with your work; with your task; your work; your task; with the implementation
the implementation; implementing; coding; with the next; with the next one; with the next step
with next step; with the next steps; with next steps; with the next task; with the next phase
with the next part; with the next item; with the next todo; to the next; to the next one
to the next step; to next step; to the next task; to the next phase; to the next part
the next step; the next one; with the rest; to next; to next task; to next phase
with the rest of it; with the rest of the plan; with the remaining steps; with the remaining tasks
with the remaining; with remaining; with remaining tasks; with the todo list; with the todos
the todo list; the rest; where you left off; from where you left off; where we left off
from where we left off; where you stopped; from where you stopped; where it stopped
from the last step; from the last point; from last time; from before; what you were doing
what you are doing; with what you were doing; doing that; doing what you were doing; doing so
until done; until you are done; until youre done; until its done; until it is done; until finished
until you finish; until everything is done; until complete; until completed; until all is done
till done; till the end; to the end; without stopping; at your own pace; when ready
when you are ready; autonomously; on your own; by yourself; immediately; right away; if you can
if possible; step by step; one by one; the conversation; your response; your answer; your message
the last message; from here on; the process; this; that; all; everything; with everything; with all
mit dem plan; mit der arbeit; mit der aufgabe; mit der nachsten aufgabe; mit dem nachsten
mit dem nachsten schritt; mit dem rest; wo du aufgehort hast; wie geplant; wie besprochen
bis zum ende; bis du fertig bist; nach plan; zum nachsten schritt; avec le plan; avec la suite
la ou tu en etais; ou tu en etais; comme prevu; jusqua la fin; le travail; a letape suivante
avec letape suivante; a travailler; sur ta lancee; comme ca; ainsi; le plan; con el plan
con el trabajo; con la tarea; con el siguiente; con el siguiente paso; con lo siguiente
con el resto; donde lo dejaste; desde donde lo dejaste; donde te quedaste; hasta el final; asi
hasta terminar; al siguiente paso; con la siguiente tarea; como planeado; con il piano
con il lavoro; con il prossimo; con il prossimo passo; da dove eri rimasto; fino alla fine; cosi
com o plano; com o trabalho; com a tarefa; com o proximo; com o proximo passo; de onde parou
de onde voce parou; ate o fim; ate o final; assim; para o proximo passo; para a proxima etapa
met het plan; met de volgende; met de volgende stap; met de rest; waar je gebleven was; zo
z planem; zgodnie z planem; od miejsca w ktorym skonczyles; do konca; z nastepnym krokiem; по плану
работу; с того места; с того места где остановился; с места остановки; до конца; к следующему шагу
в том же духе; за планом; роботу; до кінця; 剩下的; 剩余的; 剩余任务; 下面的; 未完成的; 工作; 任务
完成; 做; 到完成; 直到完成; 刚才的; 上次的; 作業; 作業を; 最後まで; 残りも; 残りを; 작업; 끝까지
끝날 때까지; 나머지; 나머지도; 하던 거; 하던거; 하던 작업; plana gore; kaldigin yerden
sonuna kadar
"""
"""Phrases that may follow a phrase to go on: the work to go on with."""


def is_continuation(text: str) -> bool:
    """Return whether a message asks to go on, and for nothing else."""
    message = unwrap(text)
    return len(message) <= CHARACTERS_MAX and _consists_of_phrases(normalized(message))


def unwrap(text: str) -> str:
    """Return a person's words without blanks and the tag that a host puts around them."""
    message = text.strip()
    inside = WRAPPED.fullmatch(message)
    return (inside[2] if inside else message).strip()


def normalized(text: str) -> str:
    """Return a text without case, accents, signs and pictures: words with one blank between them."""
    plain = normalize("NFKD", text.casefold()).translate(BARRED).replace("'", "").replace("’", "")
    letters = (sign for sign in plain if category(sign) != "Mn")
    words = "".join(sign if category(sign)[0] in "LNM" else " " for sign in letters)
    return " ".join(normalize("NFC", words).split())


def _consists_of_phrases(text: str) -> bool:
    """Return whether a text splits into phrases of the tables, one of them from GO_ON."""
    begun, going_on = {0}, set[int]()  # places that phrases lead to, without and with "go on"
    for at in range(len(text)):
        if at not in begun and at not in going_on:
            continue
        for end in range(at + 1, min(at + _LONGEST, len(text)) + 1):
            kind = _PHRASES.get(text[at:end])
            # A word ends before a blank; scripts without blanks have no other sign of it.
            ends = end == len(text) or text[end] == " " or text[end - 1] >= "\u0e00"
            if kind is None or not ends:
                continue
            after = end + (text[end : end + 1] == " ")
            if at in going_on or kind == "on":
                going_on.add(after)
            elif kind == "beside":
                begun.add(after)
    return len(text) in going_on


_PHRASES = {
    normalized(phrase): kind
    for kind, phrases in (("afterwards", AFTERWARDS), ("beside", BESIDE), ("on", GO_ON))
    for phrase in phrases.replace("\n", ";").split(";")
    if normalized(phrase)
}
_LONGEST = max(map(len, _PHRASES))
