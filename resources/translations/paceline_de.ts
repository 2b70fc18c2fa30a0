<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de_DE" sourcelanguage="en">
<context>
    <name>AboutDialog</name>
    <message>
        <location filename="../../app/paceline/gui/help/about.py"/>
        <source>About Paceline</source>
        <translation>Über Paceline</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/about.py"/>
        <source>Chat with local language models, made fast by speculative decoding that you can watch. Free software under the MIT licence.</source>
        <translation>Mit Sprachmodellen auf dem eigenen Rechner chatten, beschleunigt durch spekulatives Dekodieren, dem Sie zusehen können. Freie Software unter der MIT-Lizenz.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/about.py"/>
        <source>Copied</source>
        <translation>Kopiert</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/about.py"/>
        <source>Copy for a bug report</source>
        <translation>Für einen Fehlerbericht kopieren</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/about.py"/>
        <source>Licences</source>
        <translation>Lizenzen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/about.py"/>
        <source>Pages</source>
        <translation>Seiten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/about.py"/>
        <source>Versions</source>
        <translation>Versionen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/about.py"/>
        <source>Versions and devices</source>
        <translation>Versionen und Geräte</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/about.py"/>
        <source>Versions and devices as text; nothing of your chats, files or settings</source>
        <translation>Versionen und Geräte als Text; nichts aus Ihren Chats, Dateien oder Einstellungen</translation>
    </message>
</context>
<context>
    <name>Actions</name>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>&amp;About Paceline</source>
        <translation>Über &amp;Paceline</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>&amp;Attach files…</source>
        <translation>Dateien an&amp;hängen …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>&amp;Benchmark…</source>
        <translation>&amp;Benchmark …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>&amp;Chat</source>
        <translation>&amp;Chat</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>&amp;Chats</source>
        <translation>&amp;Chats</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>&amp;Choose models…</source>
        <translation>Modelle &amp;wählen …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>&amp;Copy the end of the log</source>
        <translation>Ende des Protokolls &amp;kopieren</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>&amp;Copy the last reply</source>
        <translation>Letzte Antwort &amp;kopieren</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>&amp;Delete the chat</source>
        <translation>Chat &amp;löschen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>&amp;Export the chat…</source>
        <translation>Chat e&amp;xportieren …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>&amp;File</source>
        <translation>&amp;Datei</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>&amp;Find a command…</source>
        <translation>&amp;Befehl suchen …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>&amp;Find chats</source>
        <translation>Chats &amp;suchen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>&amp;Find in this chat…</source>
        <translation>In diesem Chat su&amp;chen …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>&amp;Help</source>
        <translation>&amp;Hilfe</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>&amp;How the last reply was made…</source>
        <translation>&amp;Wie die letzte Antwort entstand …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>&amp;Import chats…</source>
        <translation>Chats &amp;importieren …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>&amp;Keyboard shortcuts</source>
        <translation>&amp;Tastenkürzel</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>&amp;Light</source>
        <translation>&amp;Hell</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>&amp;Models</source>
        <translation>&amp;Modelle</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>&amp;New chat</source>
        <translation>&amp;Neuer Chat</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>&amp;No draft model</source>
        <translation>&amp;Kein Entwurfsmodell</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>&amp;Normal text size</source>
        <translation>&amp;Normale Schriftgröße</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>&amp;Pin or unpin the chat</source>
        <translation>Chat &amp;anheften oder lösen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>&amp;Quit</source>
        <translation>&amp;Beenden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>&amp;Regenerate the reply</source>
        <translation>Antwort neu e&amp;rzeugen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>&amp;Reload models</source>
        <translation>Modelle n&amp;eu laden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>&amp;Settings…</source>
        <translation>&amp;Einstellungen …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>&amp;Stop loading</source>
        <translation>Laden an&amp;halten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>&amp;Stop the reply</source>
        <translation>Antwort an&amp;halten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>&amp;Tags of the chat…</source>
        <translation>Sch&amp;lagwörter des Chats …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>&amp;Theme</source>
        <translation>&amp;Farben</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>&amp;User guide</source>
        <translation>&amp;Handbuch</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>&amp;View</source>
        <translation>&amp;Ansicht</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>&amp;Watch the example</source>
        <translation>&amp;Beispiel ansehen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>&amp;Work offline</source>
        <translation>&amp;Offline arbeiten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>&amp;Wrap long lines of code</source>
        <translation>Lange Codezeilen &amp;umbrechen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>&amp;Write a message</source>
        <translation>Nachricht &amp;schreiben</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>A reply is being written.</source>
        <translation>Gerade wird eine Antwort geschrieben.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>Answer twice and co&amp;mpare…</source>
        <translation>&amp;Zweimal antworten und vergleichen …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>Archive or unarchive the chat</source>
        <translation>Chat archivieren oder zurückholen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>Back to the de&amp;mo pair</source>
        <translation>Zurück zum De&amp;mo-Paar</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>Bring later t&amp;urns up to date</source>
        <translation>Spätere &amp;Fragen nachziehen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>C&amp;ontinue the reply</source>
        <translation>Antwort fort&amp;setzen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>Chat temp&amp;late…</source>
        <translation>Chat-&amp;Vorlage …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>Choose a dra&amp;ft model…</source>
        <translation>En&amp;twurfsmodell wählen …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>Compare &amp;versions…</source>
        <translation>&amp;Versionen vergleichen …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>Dar&amp;k</source>
        <translation>Dun&amp;kel</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>Do&amp;wnloads…</source>
        <translation>Do&amp;wnloads …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>Find ne&amp;xt</source>
        <translation>We&amp;itersuchen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>Find prev&amp;ious</source>
        <translation>Rüc&amp;kwärts suchen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>For&amp;get pairs</source>
        <translation>Paare &amp;vergessen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>It has this size.</source>
        <translation>Es hat diese Größe.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>Lar&amp;ger text</source>
        <translation>&amp;Größere Schrift</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>Like the &amp;desktop</source>
        <translation>Wie der &amp;Desktop</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>M&amp;ore</source>
        <translation>M&amp;ehr</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>Move to a folder…</source>
        <translation>In einen Ordner verschieben …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>New &amp;private chat</source>
        <translation>Neuer &amp;privater Chat</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>No model is loaded.</source>
        <translation>Es ist kein Modell geladen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>No older version of this chat has later questions.</source>
        <translation>Keine ältere Fassung dieses Chats hat spätere Fragen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>No reply is being written.</source>
        <translation>Gerade wird keine Antwort geschrieben.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>Nothing was deleted.</source>
        <translation>Es wurde nichts gelöscht.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>Open a &amp;draft model file…</source>
        <translation>Datei eines &amp;Entwurfsmodells öffnen …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>Open a &amp;model file…</source>
        <translation>&amp;Modelldatei öffnen …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>Open the folder of the &amp;log</source>
        <translation>Ordner des &amp;Protokolls öffnen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>Re&amp;name the chat</source>
        <translation>Chat &amp;umbenennen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>Regenerate, &amp;keeping what need not change</source>
        <translation>Neu erzeugen und &amp;behalten, was bleiben kann</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>Requests of other pro&amp;grams…</source>
        <translation>Anfra&amp;gen anderer Programme …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>S&amp;ettings of the chat</source>
        <translation>Ei&amp;nstellungen des Chats</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>S&amp;maller text</source>
        <translation>&amp;Kleinere Schrift</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>S&amp;peculation panel</source>
        <translation>S&amp;pekulationsleiste</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>Ser&amp;ve other programs</source>
        <translation>A&amp;ndere Programme bedienen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>Switch the theme, &amp;light or dark</source>
        <translation>Farben wechseln, &amp;hell oder dunkel</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>The chat has no messages yet.</source>
        <translation>Der Chat hat noch keine Nachrichten.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>The text is as large as it gets.</source>
        <translation>Größer wird die Schrift nicht.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>The text is as small as it gets.</source>
        <translation>Kleiner wird die Schrift nicht.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>There is no draft model.</source>
        <translation>Es gibt kein Entwurfsmodell.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>There is no reply at the end to continue.</source>
        <translation>Am Ende steht keine Antwort, die fortgesetzt werden könnte.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>There is no reply whose seed could be kept.</source>
        <translation>Es gibt keine Antwort, deren Seed behalten werden könnte.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>Token c&amp;olours</source>
        <translation>Token-&amp;Farben</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/actions.py"/>
        <source>Undo the deletion</source>
        <translation>Löschen rückgängig machen</translation>
    </message>
</context>
<context>
    <name>AdviceLine</name>
    <message>
        <location filename="../../app/paceline/gui/speculation/reply_cards.py"/>
        <source>Apply</source>
        <translation>Anwenden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/reply_cards.py"/>
        <source>Dismiss</source>
        <translation>Verwerfen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/reply_cards.py"/>
        <source>Dismiss the advice</source>
        <translation>Hinweis verwerfen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/reply_cards.py"/>
        <source>Free its memory</source>
        <translation>Seinen Speicher freigeben</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/reply_cards.py"/>
        <source>Unloads the draft model; the main model is loaded again without it</source>
        <translation>Entlädt das Entwurfsmodell; das Hauptmodell wird ohne es neu geladen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/reply_cards.py"/>
        <source>Use {} from now on</source>
        <translation>Ab jetzt {} verwenden</translation>
    </message>
</context>
<context>
    <name>AttachmentChip</name>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/attachment_chips.py"/>
        <source>Attached file {}, {}</source>
        <translation>Angehängte Datei {}, {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/attachment_chips.py"/>
        <source>Show or hide the text of {}</source>
        <translation>Text von {} zeigen oder verbergen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/attachment_chips.py"/>
        <source>Text of {}</source>
        <translation>Text von {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/attachment_chips.py"/>
        <source>The first {} characters are shown; the model reads all of them.</source>
        <translation>Gezeigt werden die ersten {} Zeichen; das Modell liest alle.</translation>
    </message>
</context>
<context>
    <name>AttachmentsController</name>
    <message>
        <location filename="../../app/paceline/gui/chat/composer_controllers.py"/>
        <source>Attach text or code files</source>
        <translation>Text- oder Code-Dateien anhängen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/composer_controllers.py"/>
        <source>{} more files could not be attached either.</source>
        <translation>{} weitere Dateien ließen sich ebenfalls nicht anhängen.</translation>
    </message>
</context>
<context>
    <name>Background</name>
    <message>
        <location filename="../../app/paceline/gui/kit/background.py"/>
        <source>See the log.</source>
        <translation>Siehe Protokoll.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/kit/background.py"/>
        <source>Stopped.</source>
        <translation>Angehalten.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/kit/background.py"/>
        <source>Unexpected error: {}</source>
        <translation>Unerwarteter Fehler: {}</translation>
    </message>
</context>
<context>
    <name>BenchChart</name>
    <message>
        <location filename="../../app/paceline/gui/bench/chart.py"/>
        <source>All prompts: speed of writing, compared with plain decoding</source>
        <translation>Alle Prompts: Schreibtempo, verglichen mit einfachem Dekodieren</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/chart.py"/>
        <source>Speed of each strategy: {}</source>
        <translation>Tempo jeder Strategie: {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/chart.py"/>
        <source>failed</source>
        <translation>gescheitert</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/chart.py"/>
        <source>half of the repeats between {} and {}</source>
        <translation>die Hälfte der Wiederholungen zwischen {} und {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/chart.py"/>
        <source>not measured</source>
        <translation>nicht gemessen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/chart.py"/>
        <source>thin line: middle half</source>
        <translation>dünne Linie: mittlere Hälfte</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/chart.py"/>
        <source>{} of plain decoding's speed</source>
        <translation>{} des Tempos einfachen Dekodierens</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/chart.py"/>
        <source>{} right</source>
        <translation>{} richtig</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/chart.py"/>
        <source>{} t/s</source>
        <translation>{} t/s</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/chart.py"/>
        <source>{} tokens/s</source>
        <translation>{} Token/s</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/chart.py"/>
        <source>{}: {}</source>
        <translation>{}: {}</translation>
    </message>
</context>
<context>
    <name>BenchChoices</name>
    <message>
        <location filename="../../app/paceline/gui/bench/choices.py"/>
        <source>Everything is compared with this, so it is always measured.</source>
        <translation>Damit wird alles verglichen, darum wird es immer gemessen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/choices.py"/>
        <source>This model cannot take tokens back, so nothing can be drafted for it.</source>
        <translation>Dieses Modell kann keine Token zurücknehmen, darum kann nichts für es entworfen werden.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/choices.py"/>
        <source>{}, as in the panel</source>
        <translation>{}, wie in der Leiste</translation>
    </message>
</context>
<context>
    <name>BenchController</name>
    <message>
        <location filename="../../app/paceline/gui/bench/controller.py"/>
        <source>A benchmark is under way.</source>
        <translation>Gerade läuft ein Benchmark.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/controller.py"/>
        <source>Choose at least one prompt.</source>
        <translation>Wählen Sie mindestens einen Prompt.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/controller.py"/>
        <source>No model is loaded.</source>
        <translation>Es ist kein Modell geladen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/controller.py"/>
        <source>Pictures (*.png)</source>
        <translation>Bilder (*.png)</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/controller.py"/>
        <source>Reports (*.json)</source>
        <translation>Berichte (*.json)</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/controller.py"/>
        <source>Save the benchmark</source>
        <translation>Benchmark speichern</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/controller.py"/>
        <source>Tables (*.csv)</source>
        <translation>Tabellen (*.csv)</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/controller.py"/>
        <source>The models are still being loaded.</source>
        <translation>Die Modelle werden noch geladen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/controller.py"/>
        <source>The shown chat has no questions yet.</source>
        <translation>Der gezeigte Chat hat noch keine Fragen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/controller.py"/>
        <source>Tick a strategy to compare with plain decoding.</source>
        <translation>Kreuzen Sie eine Strategie an, die mit einfachem Dekodieren verglichen wird.</translation>
    </message>
</context>
<context>
    <name>BenchDialog</name>
    <message>
        <location filename="../../app/paceline/gui/bench/dialog.py"/>
        <source>&amp;Export</source>
        <translation>&amp;Exportieren</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/dialog.py"/>
        <source>&amp;New benchmark</source>
        <translation>&amp;Neuer Benchmark</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/dialog.py"/>
        <source>&amp;Start</source>
        <translation>&amp;Starten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/dialog.py"/>
        <source>Benchmark</source>
        <translation>Benchmark</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/dialog.py"/>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/dialog.py"/>
        <source>Copy as JSON</source>
        <translation>Als JSON kopieren</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/dialog.py"/>
        <source>JSON…</source>
        <translation>JSON …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/dialog.py"/>
        <source>Picture (PNG)…</source>
        <translation>Bild (PNG) …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/dialog.py"/>
        <source>Results</source>
        <translation>Ergebnisse</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/dialog.py"/>
        <source>Table (CSV)…</source>
        <translation>Tabelle (CSV) …</translation>
    </message>
</context>
<context>
    <name>BenchRows</name>
    <message>
        <location filename="../../app/paceline/gui/bench/rows.py"/>
        <source>Not every reply of {} is plain decoding's, token by token: where logits depend on the width of a batch, near-ties fall either way. Exact mode avoids that.</source>
        <translation>Nicht jede Antwort von {} ist Token für Token die des einfachen Dekodierens: Wo Logits von der Breite eines Batches abhängen, können knappe Fälle so oder so ausgehen. Der exakte Modus vermeidet das.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/rows.py"/>
        <source>{} and {} more</source>
        <translation>{} und {} weitere</translation>
    </message>
</context>
<context>
    <name>BenchTable</name>
    <message>
        <location filename="../../app/paceline/gui/bench/result_page.py"/>
        <source>Figures of each strategy</source>
        <translation>Zahlen jeder Strategie</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/result_page.py"/>
        <source>In use</source>
        <translation>In Gebrauch</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/result_page.py"/>
        <source>Sets the strategy of the panel: {}</source>
        <translation>Stellt die Strategie der Leiste ein: {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/result_page.py"/>
        <source>Use this</source>
        <translation>Verwenden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/result_page.py"/>
        <source>Use {}</source>
        <translation>{} verwenden</translation>
    </message>
</context>
<context>
    <name>BenchTableModel</name>
    <message>
        <location filename="../../app/paceline/gui/bench/result_page.py"/>
        <source>Guesses that were right</source>
        <translation>Richtige Vermutungen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/result_page.py"/>
        <source>Half of the repeats are between these, in writing</source>
        <translation>Die Hälfte der Wiederholungen liegt dazwischen, beim Schreiben</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/result_page.py"/>
        <source>How many times as fast a reply is there, with the reading of its prompt</source>
        <translation>Wievielmal so schnell eine Antwort da ist, das Lesen ihres Prompts mitgezählt</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/result_page.py"/>
        <source>How many times as fast as plain decoding it writes, the prompt not counted</source>
        <translation>Wievielmal so schnell wie mit einfachem Dekodieren geschrieben wird, ohne den Prompt</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/result_page.py"/>
        <source>Per step</source>
        <translation>Je Schritt</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/result_page.py"/>
        <source>Quartiles</source>
        <translation>Quartile</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/result_page.py"/>
        <source>Replies</source>
        <translation>Antworten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/result_page.py"/>
        <source>Replies that were measured</source>
        <translation>Gemessene Antworten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/result_page.py"/>
        <source>Right</source>
        <translation>Richtig</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/result_page.py"/>
        <source>Same text</source>
        <translation>Gleicher Text</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/result_page.py"/>
        <source>Strategy</source>
        <translation>Strategie</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/result_page.py"/>
        <source>Tokens per second of plain decoding, times the ratio of writing</source>
        <translation>Token pro Sekunde mit einfachem Dekodieren, mal dem Verhältnis beim Schreiben</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/result_page.py"/>
        <source>Tokens that a step of the model commits</source>
        <translation>Token, die ein Schritt des Modells festlegt</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/result_page.py"/>
        <source>Tokens/s</source>
        <translation>Token/s</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/result_page.py"/>
        <source>Whether the replies are plain decoding's, token by token</source>
        <translation>Ob die Antworten Token für Token die des einfachen Dekodierens sind</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/result_page.py"/>
        <source>Whole reply</source>
        <translation>Ganze Antwort</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/result_page.py"/>
        <source>Writing</source>
        <translation>Schreiben</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/result_page.py"/>
        <source>no</source>
        <translation>nein</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/result_page.py"/>
        <source>yes</source>
        <translation>ja</translation>
    </message>
</context>
<context>
    <name>BenchView</name>
    <message>
        <location filename="../../app/paceline/gui/bench/result_page.py"/>
        <source>So far: {}</source>
        <translation>Bisher: {}</translation>
    </message>
</context>
<context>
    <name>BenchWords</name>
    <message>
        <location filename="../../app/paceline/gui/bench/words.py"/>
        <source>Cancelled.</source>
        <translation>Abgebrochen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/words.py"/>
        <source>Editing code</source>
        <translation>Code ändern</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/words.py"/>
        <source>Free text, temperature 0.8</source>
        <translation>Freier Text, Temperatur 0,8</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/words.py"/>
        <source>Free text, temperature 1</source>
        <translation>Freier Text, Temperatur 1</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/words.py"/>
        <source>Getting ready, {:.0f} s so far</source>
        <translation>Vorbereitung, bisher {:.0f} s</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/words.py"/>
        <source>Long context</source>
        <translation>Langer Kontext</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/words.py"/>
        <source>Measuring what steps of each width cost…</source>
        <translation>Misst, was Schritte jeder Breite kosten …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/words.py"/>
        <source>No model is loaded.</source>
        <translation>Es ist kein Modell geladen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/words.py"/>
        <source>Paused while a reply is written; it goes on by itself.</source>
        <translation>Pause, solange eine Antwort geschrieben wird; danach geht es von selbst weiter.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/words.py"/>
        <source>Plain decoding</source>
        <translation>Einfaches Dekodieren</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/words.py"/>
        <source>Question</source>
        <translation>Frage</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/words.py"/>
        <source>Quoting a text</source>
        <translation>Einen Text wiedergeben</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/words.py"/>
        <source>Second question of a chat</source>
        <translation>Zweite Frage eines Chats</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/words.py"/>
        <source>The engine stopped working: {}</source>
        <translation>Die Engine arbeitet nicht mehr: {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/words.py"/>
        <source>The machine was busy before this began (a load of {:.1f}), so the figures scatter.</source>
        <translation>Der Rechner war schon vorher beschäftigt (eine Last von {:.1f}), darum streuen die Zahlen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/words.py"/>
        <source>The models were unloaded or replaced, so the benchmark of this pair has ended.</source>
        <translation>Die Modelle wurden entladen oder ersetzt, darum ist der Benchmark dieses Paars zu Ende.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/words.py"/>
        <source>a few seconds</source>
        <translation>ein paar Sekunden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/words.py"/>
        <source>a few seconds left</source>
        <translation>noch ein paar Sekunden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/words.py"/>
        <source>about {} left</source>
        <translation>noch etwa {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/words.py"/>
        <source>as many tokens as pay</source>
        <translation>so viele Token, wie sich lohnen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/words.py"/>
        <source>{:,} of {:,} replies measured</source>
        <translation>{:,} von {:,} Antworten gemessen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/words.py"/>
        <source>{:,} replies</source>
        <translation>{:,} Antworten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/words.py"/>
        <source>{:.1f} h</source>
        <translation>{:.1f} h</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/words.py"/>
        <source>{} The figures are of the {:,} replies that were measured before.</source>
        <translation>{} Die Zahlen sind die der {:,} Antworten, die vorher gemessen wurden.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/words.py"/>
        <source>{} min</source>
        <translation>{} min</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/words.py"/>
        <source>{} of up to {:,} tokens; the first ones show how long that takes.</source>
        <translation>{} mit bis zu {:,} Token; die ersten zeigen, wie lange das dauert.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/words.py"/>
        <source>{} replies in {}</source>
        <translation>{} Antworten in {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/words.py"/>
        <source>{} s</source>
        <translation>{} s</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/words.py"/>
        <source>{} thread</source>
        <translation>{} Thread</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/words.py"/>
        <source>{} threads</source>
        <translation>{} Threads</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/words.py"/>
        <source>{} token</source>
        <translation>{} Token</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/words.py"/>
        <source>{} tokens</source>
        <translation>{} Token</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/words.py"/>
        <source>{} with {} as the draft model</source>
        <translation>{} mit {} als Entwurfsmodell</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/words.py"/>
        <source>{}, about {}</source>
        <translation>{}, etwa {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/words.py"/>
        <source>{}, no draft model</source>
        <translation>{}, kein Entwurfsmodell</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/words.py"/>
        <source>{}, repeat {}</source>
        <translation>{}, Wiederholung {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/words.py"/>
        <source>“{}” by {}</source>
        <translation>„{}“ durch {}</translation>
    </message>
</context>
<context>
    <name>BreakingLabel</name>
    <message>
        <location filename="../../app/paceline/gui/kit/labels.py"/>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
</context>
<context>
    <name>Candidates</name>
    <message>
        <location filename="../../app/paceline/gui/models/candidates.py"/>
        <source>Download and load</source>
        <translation>Herunterladen und laden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/candidates.py"/>
        <source>Download and load ({})</source>
        <translation>Herunterladen und laden ({})</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/candidates.py"/>
        <source>Downloading…</source>
        <translation>Wird heruntergeladen …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/candidates.py"/>
        <source>It cannot be downloaded: such a file name is not used on this computer.</source>
        <translation>Es kann nicht heruntergeladen werden: Ein solcher Dateiname wird auf diesem Computer nicht verwendet.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/candidates.py"/>
        <source>It is newer than this llama.cpp ({}).</source>
        <translation>Es ist neuer als dieses llama.cpp ({}).</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/candidates.py"/>
        <source>Load model</source>
        <translation>Modell laden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/candidates.py"/>
        <source>Load pair</source>
        <translation>Paar laden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/candidates.py"/>
        <source>Loads as soon as the files are here.</source>
        <translation>Lädt, sobald die Dateien da sind.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/candidates.py"/>
        <source>MTP head inside</source>
        <translation>mit MTP-Kopf</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/candidates.py"/>
        <source>Parts of this model are missing on the Hub.</source>
        <translation>Auf dem Hub fehlen Teile dieses Modells.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/candidates.py"/>
        <source>Pick a model first.</source>
        <translation>Wählen Sie zuerst ein Modell.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/candidates.py"/>
        <source>Show its files</source>
        <translation>Dateien zeigen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/candidates.py"/>
        <source>Still being looked into.</source>
        <translation>Wird noch angesehen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/candidates.py"/>
        <source>This row names no model to load.</source>
        <translation>Diese Zeile nennt kein Modell zum Laden.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/candidates.py"/>
        <source>about {} tokens/s</source>
        <translation>etwa {} Token/s</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/candidates.py"/>
        <source>about {} tokens/s, {} with drafts</source>
        <translation>etwa {} Token/s, {} mit Entwürfen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/candidates.py"/>
        <source>no chat template</source>
        <translation>keine Chat-Vorlage</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/candidates.py"/>
        <source>not smaller</source>
        <translation>nicht kleiner</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/candidates.py"/>
        <source>other model</source>
        <translation>anderes Modell</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/candidates.py"/>
        <source>other vocabulary</source>
        <translation>anderes Vokabular</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/candidates.py"/>
        <source>{} context</source>
        <translation>{} Kontext</translation>
    </message>
</context>
<context>
    <name>Catalogue</name>
    <message>
        <location filename="../../app/paceline/gui/models/catalogue.py"/>
        <source>The recommended pair is downloaded.</source>
        <translation>Das empfohlene Paar ist heruntergeladen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/catalogue.py"/>
        <source>{} is downloaded.</source>
        <translation>{} ist heruntergeladen.</translation>
    </message>
</context>
<context>
    <name>ChainDialog</name>
    <message>
        <location filename="../../app/paceline/gui/speculation/strategy_picker.py"/>
        <source>Lookups are asked in the order in which you tick them, the draft model last.</source>
        <translation>Nachgeschlagen wird in der Reihenfolge, in der Sie ankreuzen; das Entwurfsmodell kommt zuletzt.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/strategy_picker.py"/>
        <source>Put a chain together</source>
        <translation>Kette zusammenstellen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/strategy_picker.py"/>
        <source>Tick at least two.</source>
        <translation>Kreuzen Sie mindestens zwei an.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/strategy_picker.py"/>
        <source>Use this chain</source>
        <translation>Diese Kette verwenden</translation>
    </message>
</context>
<context>
    <name>ChatCommands</name>
    <message>
        <location filename="../../app/paceline/gui/help/palette.py"/>
        <source>Chat</source>
        <translation>Chat</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/palette.py"/>
        <source>Private chat</source>
        <translation>Privater Chat</translation>
    </message>
</context>
<context>
    <name>ChatController</name>
    <message>
        <location filename="../../app/paceline/gui/chat/controller.py"/>
        <source>A later question is in the older version only.</source>
        <translation>Eine spätere Frage steht nur in der älteren Fassung.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/controller.py"/>
        <source>Ask here, too</source>
        <translation>Auch hier stellen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/controller.py"/>
        <source>Branched here from a chat that was deleted</source>
        <translation>Hier abgezweigt von einem gelöschten Chat</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/controller.py"/>
        <source>Branched here from “{}”</source>
        <translation>Hier abgezweigt von „{}“</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/controller.py"/>
        <source>Bringing later turns up to date: {} of {}.</source>
        <translation>Spätere Fragen werden nachgezogen: {} von {}.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/controller.py"/>
        <source>Open</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/controller.py"/>
        <source>Open {}?</source>
        <translation>{} öffnen?</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/controller.py"/>
        <source>Stop</source>
        <translation>Anhalten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/controller.py"/>
        <source>The message was deleted.</source>
        <translation>Die Nachricht wurde gelöscht.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/controller.py"/>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/controller.py"/>
        <source>{} later questions are in the older version only.</source>
        <translation>{} spätere Fragen stehen nur in der älteren Fassung.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/controller.py"/>
        <source>{} messages were deleted.</source>
        <translation>{} Nachrichten wurden gelöscht.</translation>
    </message>
</context>
<context>
    <name>ChatFinder</name>
    <message>
        <location filename="../../app/paceline/gui/conversations/chat_finder.py"/>
        <source>Ctrl Shift F</source>
        <translation>Strg Umschalt F</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/chat_finder.py"/>
        <source>Letters and digits are: write a word that stands near “{}”.</source>
        <translation>Buchstaben und Ziffern schon: Schreiben Sie ein Wort, das bei „{}“ steht.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/chat_finder.py"/>
        <source>No chat has the tag “{}”.</source>
        <translation>Kein Chat hat das Schlagwort „{}“.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/chat_finder.py"/>
        <source>No chats yet</source>
        <translation>Noch keine Chats</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/chat_finder.py"/>
        <source>Nothing has “{}”.</source>
        <translation>Nichts enthält „{}“.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/chat_finder.py"/>
        <source>Only chats with the tag “{}” were searched.</source>
        <translation>Nur Chats mit dem Schlagwort „{}“ wurden durchsucht.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/chat_finder.py"/>
        <source>Search chats</source>
        <translation>Chats durchsuchen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/chat_finder.py"/>
        <source>Show all chats</source>
        <translation>Alle Chats zeigen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/chat_finder.py"/>
        <source>Signs and emoji are not searched</source>
        <translation>Zeichen und Emoji werden nicht gesucht</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/chat_finder.py"/>
        <source>Signs and emoji are not searched.</source>
        <translation>Zeichen und Emoji werden nicht gesucht.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/chat_finder.py"/>
        <source>Tags are put on a chat in its menu.</source>
        <translation>Schlagwörter vergeben Sie im Menü eines Chats.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/chat_finder.py"/>
        <source>Titles, messages and replies were searched. Try fewer or shorter words.</source>
        <translation>Titel, Nachrichten und Antworten wurden durchsucht. Versuchen Sie weniger oder kürzere Wörter.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/chat_finder.py"/>
        <source>Write a message to begin. Every chat is kept here with its speed.</source>
        <translation>Schreiben Sie eine Nachricht. Jeder Chat wird hier mit seiner Geschwindigkeit aufbewahrt.</translation>
    </message>
</context>
<context>
    <name>ChatGroups</name>
    <message>
        <location filename="../../app/paceline/gui/conversations/groups.py"/>
        <source>Archived</source>
        <translation>Archiviert</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/groups.py"/>
        <source>Pinned</source>
        <translation>Angeheftet</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/groups.py"/>
        <source>This month</source>
        <translation>Diesen Monat</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/groups.py"/>
        <source>This week</source>
        <translation>Diese Woche</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/groups.py"/>
        <source>Today</source>
        <translation>Heute</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/groups.py"/>
        <source>Undated</source>
        <translation>Ohne Datum</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/groups.py"/>
        <source>Yesterday</source>
        <translation>Gestern</translation>
    </message>
</context>
<context>
    <name>ChatLines</name>
    <message>
        <location filename="../../app/paceline/gui/state/chat_lines.py"/>
        <source>Branch of a chat that was deleted</source>
        <translation>Zweig eines gelöschten Chats</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/chat_lines.py"/>
        <source>Branch of “{}”</source>
        <translation>Zweig von „{}“</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/chat_lines.py"/>
        <source>Imported from {}</source>
        <translation>Importiert aus {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/chat_lines.py"/>
        <source>New chat</source>
        <translation>Neuer Chat</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/chat_lines.py"/>
        <source>Private chat</source>
        <translation>Privater Chat</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/chat_lines.py"/>
        <source>archived</source>
        <translation>archiviert</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/chat_lines.py"/>
        <source>branch</source>
        <translation>Zweig</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/chat_lines.py"/>
        <source>from {}</source>
        <translation>aus {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/chat_lines.py"/>
        <source>in the folder {}</source>
        <translation>im Ordner {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/chat_lines.py"/>
        <source>not stored</source>
        <translation>nicht gespeichert</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/chat_lines.py"/>
        <source>now</source>
        <translation>jetzt</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/chat_lines.py"/>
        <source>pinned</source>
        <translation>angeheftet</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/chat_lines.py"/>
        <source>tags: {}</source>
        <translation>Schlagwörter: {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/chat_lines.py"/>
        <source>yesterday</source>
        <translation>gestern</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/chat_lines.py"/>
        <source>{day} {month}</source>
        <translation>{day}. {month}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/chat_lines.py"/>
        <source>{day} {month} {year}</source>
        <translation>{day}. {month} {year}</translation>
    </message>
</context>
<context>
    <name>ChatList</name>
    <message>
        <location filename="../../app/paceline/gui/conversations/chat_finder.py"/>
        <source>Chats</source>
        <translation>Chats</translation>
    </message>
</context>
<context>
    <name>ChatMenu</name>
    <message>
        <location filename="../../app/paceline/gui/conversations/sidebar.py"/>
        <source>Archive</source>
        <translation>Archivieren</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/sidebar.py"/>
        <source>Copy as Markdown</source>
        <translation>Als Markdown kopieren</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/sidebar.py"/>
        <source>Delete</source>
        <translation>Löschen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/sidebar.py"/>
        <source>Export…</source>
        <translation>Exportieren …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/sidebar.py"/>
        <source>Move to folder</source>
        <translation>In Ordner verschieben</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/sidebar.py"/>
        <source>Open</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/sidebar.py"/>
        <source>Pin</source>
        <translation>Anheften</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/sidebar.py"/>
        <source>Rename</source>
        <translation>Umbenennen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/sidebar.py"/>
        <source>Tags…</source>
        <translation>Schlagwörter …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/sidebar.py"/>
        <source>Unarchive</source>
        <translation>Aus dem Archiv holen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/sidebar.py"/>
        <source>Unpin</source>
        <translation>Lösen</translation>
    </message>
</context>
<context>
    <name>ChatPairOffer</name>
    <message>
        <location filename="../../app/paceline/gui/models/controller.py"/>
        <source>Load them</source>
        <translation>Diese laden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/controller.py"/>
        <source>This chat was answered by other models than the loaded ones: {}.</source>
        <translation>In diesem Chat haben andere Modelle geantwortet als die geladenen: {}.</translation>
    </message>
</context>
<context>
    <name>ChatView</name>
    <message>
        <location filename="../../app/paceline/gui/chat/view.py"/>
        <source>Conversation</source>
        <translation>Unterhaltung</translation>
    </message>
</context>
<context>
    <name>Choices</name>
    <message>
        <location filename="../../app/paceline/gui/state/speculation.py"/>
        <source>Looks up first; where that finds nothing the draft model writes ahead, and the lookup goes on after it.</source>
        <translation>Schlägt zuerst nach; wo sich nichts findet, schreibt das Entwurfsmodell voraus, und dahinter geht das Nachschlagen weiter.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/speculation.py"/>
        <source>Looks up in this order; where nothing is found the draft model writes ahead, and a lookup goes on after it.</source>
        <translation>Schlägt in dieser Reihenfolge nach; wo sich nichts findet, schreibt das Entwurfsmodell voraus, und dahinter geht das Nachschlagen weiter.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/speculation.py"/>
        <source>The first of them that finds something writes ahead.</source>
        <translation>Der erste, der etwas findet, schreibt voraus.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/speculation.py"/>
        <source>“{}”</source>
        <translation>„{}“</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/speculation.py"/>
        <source>“{}” with {}</source>
        <translation>„{}“ mit {}</translation>
    </message>
</context>
<context>
    <name>CodeButtons</name>
    <message>
        <location filename="../../app/paceline/gui/chat/markdown/code_buttons.py"/>
        <source>Don't wrap</source>
        <translation>Nicht umbrechen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/markdown/code_buttons.py"/>
        <source>Save</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/markdown/code_buttons.py"/>
        <source>Save the code to a file</source>
        <translation>Code in eine Datei speichern</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/markdown/code_buttons.py"/>
        <source>Scroll long lines</source>
        <translation>Lange Zeilen scrollen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/markdown/code_buttons.py"/>
        <source>Wrap</source>
        <translation>Umbrechen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/markdown/code_buttons.py"/>
        <source>Wrap long lines</source>
        <translation>Lange Zeilen umbrechen</translation>
    </message>
</context>
<context>
    <name>CodeSaver</name>
    <message>
        <location filename="../../app/paceline/gui/chat/controller.py"/>
        <source>All files (*)</source>
        <translation>Alle Dateien (*)</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/controller.py"/>
        <source>Code ({})</source>
        <translation>Code ({})</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/controller.py"/>
        <source>Save the code</source>
        <translation>Code speichern</translation>
    </message>
</context>
<context>
    <name>CommandRow</name>
    <message>
        <location filename="../../app/paceline/gui/machines/page.py"/>
        <source>Copy the command</source>
        <translation>Befehl kopieren</translation>
    </message>
</context>
<context>
    <name>CompareController</name>
    <message>
        <location filename="../../app/paceline/gui/compare/controller.py"/>
        <source>Ask something first; then compare two answers.</source>
        <translation>Stellen Sie zuerst eine Frage, dann vergleichen Sie zwei Antworten.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/compare/controller.py"/>
        <source>Comes next.</source>
        <translation>Kommt als Nächstes.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/compare/controller.py"/>
        <source>Loading the models: {:.0f} %…</source>
        <translation>Modelle werden geladen: {:.0f} % …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/compare/controller.py"/>
        <source>Settings of this chat</source>
        <translation>Einstellungen dieses Chats</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/compare/controller.py"/>
        <source>The loaded models</source>
        <translation>Die geladenen Modelle</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/compare/controller.py"/>
        <source>Waiting for the engine…</source>
        <translation>Wartet auf die Engine …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/compare/controller.py"/>
        <source>Without drafts</source>
        <translation>Ohne Entwürfe</translation>
    </message>
</context>
<context>
    <name>CompareDialog</name>
    <message>
        <location filename="../../app/paceline/gui/compare/dialog.py"/>
        <source>&amp;Start</source>
        <translation>&amp;Starten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/compare/dialog.py"/>
        <source>&amp;Stop</source>
        <translation>&amp;Anhalten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/compare/dialog.py"/>
        <source>Answer twice and compare</source>
        <translation>Zweimal antworten und vergleichen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/compare/dialog.py"/>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/compare/dialog.py"/>
        <source>Drafts</source>
        <translation>Entwürfe</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/compare/dialog.py"/>
        <source>In the chat</source>
        <translation>Im Chat</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/compare/dialog.py"/>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/compare/dialog.py"/>
        <source>Other settings or models</source>
        <translation>Andere Einstellungen oder Modelle</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/compare/dialog.py"/>
        <source>Put it into the chat as a version of the reply</source>
        <translation>In den Chat übernehmen, als Version der Antwort</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/compare/dialog.py"/>
        <source>Reply settings</source>
        <translation>Einstellungen der Antwort</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/compare/dialog.py"/>
        <source>Use this reply</source>
        <translation>Diese Antwort verwenden</translation>
    </message>
</context>
<context>
    <name>Composer</name>
    <message>
        <location filename="../../app/paceline/gui/chat/composer.py"/>
        <source>A reply is being written in “{}”.</source>
        <translation>In „{}“ wird gerade eine Antwort geschrieben.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/composer.py"/>
        <source>Ask anything. Enter sends, Shift+Enter makes a new line.</source>
        <translation>Eingabe sendet, Umschalt+Eingabe: neue Zeile.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/composer.py"/>
        <source>Attach files</source>
        <translation>Dateien anhängen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/composer.py"/>
        <source>Attach text or code files (Ctrl+U)</source>
        <translation>Text- oder Code-Dateien anhängen (Strg+U)</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/composer.py"/>
        <source>Attach the {} that you pasted as a file</source>
        <translation>Die eingefügten {} als Datei anhängen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/composer.py"/>
        <source>Message</source>
        <translation>Nachricht</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/composer.py"/>
        <source>Send</source>
        <translation>Senden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/composer.py"/>
        <source>Send the message</source>
        <translation>Nachricht senden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/composer.py"/>
        <source>Send the message (Enter)</source>
        <translation>Nachricht senden (Eingabe)</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/composer.py"/>
        <source>Show that chat</source>
        <translation>Diesen Chat zeigen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/composer.py"/>
        <source>Stop the reply</source>
        <translation>Antwort anhalten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/composer.py"/>
        <source>Stop the reply (Esc)</source>
        <translation>Antwort anhalten (Esc)</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/composer.py"/>
        <source>The {} that you pasted are attached as {}</source>
        <translation>Die eingefügten {} sind als {} angehängt</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/composer.py"/>
        <source>Then its end is marked for the model</source>
        <translation>Dann ist ihr Ende für das Modell gekennzeichnet</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/composer.py"/>
        <source>■ Stop</source>
        <translation>■ Stopp</translation>
    </message>
</context>
<context>
    <name>Context</name>
    <message>
        <location filename="../../app/paceline/gui/chat/context_meter.py"/>
        <source>Chat template</source>
        <translation>Chat-Vorlage</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/context_meter.py"/>
        <source>Context {} of {}</source>
        <translation>Kontext {} von {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/context_meter.py"/>
        <source>Free</source>
        <translation>Frei</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/context_meter.py"/>
        <source>Left out</source>
        <translation>Ausgelassen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/context_meter.py"/>
        <source>Messages ({})</source>
        <translation>Nachrichten ({})</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/context_meter.py"/>
        <source>Prompt</source>
        <translation>Prompt</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/context_meter.py"/>
        <source>System prompt</source>
        <translation>System-Prompt</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/context_meter.py"/>
        <source>The context holds {} tokens.</source>
        <translation>Der Kontext fasst {} Token.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/context_meter.py"/>
        <source>The next message does not fit. Shorten it, start a new chat, or load the model with a longer context.</source>
        <translation>Die nächste Nachricht passt nicht hinein. Kürzen Sie sie, beginnen Sie einen neuen Chat, oder laden Sie das Modell mit einem längeren Kontext.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/context_meter.py"/>
        <source>The oldest message will be left out of the next reply.</source>
        <translation>Die älteste Nachricht wird bei der nächsten Antwort ausgelassen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/context_meter.py"/>
        <source>The oldest messages are left out of this reply: {}.</source>
        <translation>Die ältesten Nachrichten werden bei dieser Antwort ausgelassen: {}.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/context_meter.py"/>
        <source>The oldest {} messages will be left out of the next reply.</source>
        <translation>Die ältesten {} Nachrichten werden bei der nächsten Antwort ausgelassen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/context_meter.py"/>
        <source>The reply ends after at most {} tokens, when the context is full.</source>
        <translation>Die Antwort endet nach höchstens {} Token, wenn der Kontext voll ist.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/context_meter.py"/>
        <source>The reply may have {} tokens.</source>
        <translation>Die Antwort darf {} Token lang sein.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/context_meter.py"/>
        <source>The reply so far</source>
        <translation>Die Antwort bisher</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/context_meter.py"/>
        <source>This conversation cannot be counted; the model's chat template refuses it.</source>
        <translation>Diese Unterhaltung lässt sich nicht zählen; die Chat-Vorlage des Modells lehnt sie ab.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/context_meter.py"/>
        <source>What you are writing</source>
        <translation>Was Sie gerade schreiben</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/context_meter.py"/>
        <source>{} of {} tokens are in use.</source>
        <translation>{} von {} Token sind belegt.</translation>
    </message>
</context>
<context>
    <name>ContextField</name>
    <message>
        <location filename="../../app/paceline/gui/models/picker/load_form.py"/>
        <source>Context</source>
        <translation>Kontext</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/load_form.py"/>
        <source>Context in tokens</source>
        <translation>Kontext in Token</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/load_form.py"/>
        <source>automatic: {}, as many as find room</source>
        <translation>automatisch: {}, so viel wie Platz ist</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/load_form.py"/>
        <source>cut from {}: trained for {} tokens</source>
        <translation>gekürzt von {}: trainiert auf {} Token</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/load_form.py"/>
        <source>no context finds room</source>
        <translation>für keinen Kontext ist Platz</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/load_form.py"/>
        <source>trained for {} tokens</source>
        <translation>trainiert auf {} Token</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/load_form.py"/>
        <source>up to about {} find room</source>
        <translation>Platz ist für etwa {}</translation>
    </message>
</context>
<context>
    <name>ContextPopover</name>
    <message>
        <location filename="../../app/paceline/gui/chat/context_meter.py"/>
        <source>The reply may have</source>
        <translation>Die Antwort darf haben</translation>
    </message>
</context>
<context>
    <name>ConversationList</name>
    <message>
        <location filename="../../app/paceline/gui/conversations/model.py"/>
        <source>{}, folder, closed, {} chats</source>
        <translation>{}, Ordner, geschlossen, {} Chats</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/model.py"/>
        <source>{}, folder, open, {} chats</source>
        <translation>{}, Ordner, offen, {} Chats</translation>
    </message>
</context>
<context>
    <name>ConversationRow</name>
    <message>
        <location filename="../../app/paceline/gui/conversations/rows.py"/>
        <source>Title of the chat</source>
        <translation>Titel des Chats</translation>
    </message>
</context>
<context>
    <name>CopyButton</name>
    <message>
        <location filename="../../app/paceline/gui/chat/markdown/code_buttons.py"/>
        <source>Copied</source>
        <translation>Kopiert</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/markdown/code_buttons.py"/>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/markdown/code_buttons.py"/>
        <source>Copy the code</source>
        <translation>Code kopieren</translation>
    </message>
</context>
<context>
    <name>CostBars</name>
    <message>
        <location filename="../../app/paceline/gui/speculation/why_card.py"/>
        <source>Cost of a step by its tokens</source>
        <translation>Kosten eines Schritts nach seinen Token</translation>
    </message>
</context>
<context>
    <name>DeviceWords</name>
    <message>
        <location filename="../../app/paceline/gui/state/device_words.py"/>
        <source>{}: {} of {} free</source>
        <translation>{}: {} von {} frei</translation>
    </message>
</context>
<context>
    <name>Dialogs</name>
    <message>
        <location filename="../../app/paceline/gui/kit/dialogs.py"/>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/kit/dialogs.py"/>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
</context>
<context>
    <name>DifferenceView</name>
    <message>
        <location filename="../../app/paceline/gui/run/difference_view.py"/>
        <source>Both texts, row by row</source>
        <translation>Beide Texte, Zeile für Zeile</translation>
    </message>
</context>
<context>
    <name>DownloadRow</name>
    <message>
        <location filename="../../app/paceline/gui/models/downloads/panel.py"/>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/downloads/panel.py"/>
        <source>Pause</source>
        <translation>Pause</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/downloads/panel.py"/>
        <source>Progress of {}</source>
        <translation>Fortschritt von {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/downloads/panel.py"/>
        <source>Remove</source>
        <translation>Entfernen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/downloads/panel.py"/>
        <source>Resume</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/downloads/panel.py"/>
        <source>Retry</source>
        <translation>Wiederholen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/downloads/panel.py"/>
        <source>Use it</source>
        <translation>Verwenden</translation>
    </message>
</context>
<context>
    <name>DownloadStrip</name>
    <message>
        <location filename="../../app/paceline/gui/models/downloads/panel.py"/>
        <source>Progress of the downloads</source>
        <translation>Fortschritt der Downloads</translation>
    </message>
</context>
<context>
    <name>Downloads</name>
    <message>
        <location filename="../../app/paceline/gui/models/downloads/model.py"/>
        <source>Cancelled; what had arrived is deleted</source>
        <translation>Abgebrochen; was angekommen war, ist gelöscht</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/downloads/model.py"/>
        <source>Checking {}…</source>
        <translation>{} wird geprüft …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/downloads/model.py"/>
        <source>Connecting…</source>
        <translation>Verbindung wird aufgebaut …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/downloads/model.py"/>
        <source>Downloaded, {}</source>
        <translation>Heruntergeladen, {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/downloads/model.py"/>
        <source>It failed.</source>
        <translation>Fehlgeschlagen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/downloads/model.py"/>
        <source>Paused, {}</source>
        <translation>Angehalten, {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/downloads/model.py"/>
        <source>Waits for another download to end</source>
        <translation>Wartet auf das Ende eines anderen Downloads</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/downloads/model.py"/>
        <source>{} Trying again…</source>
        <translation>{} Es wird erneut versucht…</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/downloads/model.py"/>
        <source>{} downloads</source>
        <translation>{} Downloads</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/downloads/model.py"/>
        <source>{} left</source>
        <translation>noch {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/downloads/model.py"/>
        <source>{} of {}</source>
        <translation>{} von {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/downloads/model.py"/>
        <source>{}/s</source>
        <translation>{}/s</translation>
    </message>
</context>
<context>
    <name>DownloadsButton</name>
    <message>
        <location filename="../../app/paceline/gui/models/downloads/panel.py"/>
        <source>Downloads</source>
        <translation>Downloads</translation>
    </message>
</context>
<context>
    <name>DownloadsController</name>
    <message>
        <location filename="../../app/paceline/gui/models/downloads/controller.py"/>
        <source>Give it up</source>
        <translation>Aufgeben</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/downloads/controller.py"/>
        <source>Give up this download?</source>
        <translation>Diesen Download aufgeben?</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/downloads/controller.py"/>
        <source>The {} of “{}” that have arrived are deleted.</source>
        <translation>Die {} von „{}“, die angekommen sind, werden gelöscht.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/downloads/controller.py"/>
        <source>Use it</source>
        <translation>Verwenden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/downloads/controller.py"/>
        <source>“{}” had to pause: {}</source>
        <translation>„{}“ musste anhalten: {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/downloads/controller.py"/>
        <source>“{}” is downloaded.</source>
        <translation>„{}“ ist heruntergeladen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/downloads/controller.py"/>
        <source>“{}” was not downloaded: {}</source>
        <translation>„{}“ wurde nicht heruntergeladen: {}</translation>
    </message>
</context>
<context>
    <name>DownloadsDialog</name>
    <message>
        <location filename="../../app/paceline/gui/models/downloads/panel.py"/>
        <source>Downloads</source>
        <translation>Downloads</translation>
    </message>
</context>
<context>
    <name>DownloadsPage</name>
    <message>
        <location filename="../../app/paceline/gui/settings/downloads_page.py"/>
        <source>Access token</source>
        <translation>Zugangstoken</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/downloads_page.py"/>
        <source>All requests go by it. Downloads under way go on from where they were.</source>
        <translation>Alle Anfragen gehen darüber. Laufende Downloads werden fortgesetzt.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/downloads_page.py"/>
        <source>Downloads</source>
        <translation>Downloads</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/downloads_page.py"/>
        <source>Downloads go to</source>
        <translation>Ordner für Downloads</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/downloads_page.py"/>
        <source>Files</source>
        <translation>Dateien</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/downloads_page.py"/>
        <source>For models whose terms must be accepted, and for more requests. It is kept apart from the settings, where only you can read it, and goes to the Hub alone.</source>
        <translation>Für Modelle, deren Bedingungen angenommen werden müssen, und für mehr Anfragen. Es liegt getrennt von den Einstellungen, wo nur Sie es lesen können, und geht allein an den Hub.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/downloads_page.py"/>
        <source>Hugging Face Hub</source>
        <translation>Hugging Face Hub</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/downloads_page.py"/>
        <source>Proxy</source>
        <translation>Proxy</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/downloads_page.py"/>
        <source>The Hub is not asked for anything. Everything on this computer works.</source>
        <translation>Beim Hub wird nichts abgefragt. Alles auf diesem Rechner funktioniert.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/downloads_page.py"/>
        <source>What was downloaded before stays where it is, and is still found.</source>
        <translation>Was schon heruntergeladen ist, bleibt, wo es ist, und wird weiter gefunden.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/downloads_page.py"/>
        <source>Work offline</source>
        <translation>Offline arbeiten</translation>
    </message>
</context>
<context>
    <name>DownloadsPanel</name>
    <message>
        <location filename="../../app/paceline/gui/models/downloads/panel.py"/>
        <source>Downloads</source>
        <translation>Downloads</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/downloads/panel.py"/>
        <source>Nothing is being downloaded. Models that you fetch from Hugging Face show here.</source>
        <translation>Nichts wird heruntergeladen. Modelle, die Sie von Hugging Face holen, erscheinen hier.</translation>
    </message>
</context>
<context>
    <name>DraftAttachments</name>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/attachment_chips.py"/>
        <source>Attached files</source>
        <translation>Angehängte Dateien</translation>
    </message>
</context>
<context>
    <name>DraftChip</name>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/attachment_chips.py"/>
        <source>Attached file {}, {}, about {} tokens</source>
        <translation>Angehängte Datei {}, {}, etwa {} Token</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/attachment_chips.py"/>
        <source>Do not attach this file</source>
        <translation>Diese Datei nicht anhängen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/attachment_chips.py"/>
        <source>Do not attach {}</source>
        <translation>{} nicht anhängen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/attachment_chips.py"/>
        <source>Look into {}; Delete takes it away</source>
        <translation>In {} hineinsehen; Entf nimmt sie weg</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/attachment_chips.py"/>
        <source>≈ {} tokens</source>
        <translation>≈ {} Token</translation>
    </message>
</context>
<context>
    <name>DraftPresetsController</name>
    <message>
        <location filename="../../app/paceline/gui/speculation/draft_settings.py"/>
        <source>Delete</source>
        <translation>Löschen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/draft_settings.py"/>
        <source>It cannot be used here.</source>
        <translation>Sie lässt sich hier nicht verwenden.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/draft_settings.py"/>
        <source>None for this pair yet</source>
        <translation>Noch keine für dieses Paar</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/draft_settings.py"/>
        <source>Rename</source>
        <translation>Umbenennen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/draft_settings.py"/>
        <source>Save</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/draft_settings.py"/>
        <source>Save as…</source>
        <translation>Speichern unter …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/draft_settings.py"/>
        <source>Save draft settings for this pair</source>
        <translation>Entwurfseinstellungen für dieses Paar speichern</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/draft_settings.py"/>
        <source>The preset holds “{}”.</source>
        <translation>Die Vorgabe enthält „{}“.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/draft_settings.py"/>
        <source>The strategy that was used last with this pair is “{}”.</source>
        <translation>Die mit diesem Paar zuletzt verwendete Strategie ist „{}“.</translation>
    </message>
</context>
<context>
    <name>DraftSettings</name>
    <message>
        <location filename="../../app/paceline/gui/speculation/draft_settings.py"/>
        <source>Draft settings</source>
        <translation>Entwurfseinstellungen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/draft_settings.py"/>
        <source>Presets of draft settings for this pair</source>
        <translation>Vorgaben der Entwurfseinstellungen für dieses Paar</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/draft_settings.py"/>
        <source>Presets ▾</source>
        <translation>Vorgaben ▾</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/draft_settings.py"/>
        <source>Put these settings back to their defaults</source>
        <translation>Diese Einstellungen auf ihre Vorgaben zurücksetzen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/draft_settings.py"/>
        <source>Reset</source>
        <translation>Zurücksetzen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/draft_settings.py"/>
        <source>Strategies with their settings, kept for this pair of models. What was used last with a pair comes back by itself when the pair is loaded.</source>
        <translation>Strategien mit ihren Einstellungen, für dieses Modellpaar aufbewahrt. Was mit einem Paar zuletzt verwendet wurde, kommt beim Laden von selbst wieder.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/draft_settings.py"/>
        <source>apply at the next step</source>
        <translation>gelten ab dem nächsten Schritt</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/draft_settings.py"/>
        <source>none here</source>
        <translation>hier keine</translation>
    </message>
</context>
<context>
    <name>DrafterBlock</name>
    <message>
        <location filename="../../app/paceline/gui/speculation/why_card.py"/>
        <source>by how sure it was, in %</source>
        <translation>nach Sicherheit, in %</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/why_card.py"/>
        <source>by place in the draft</source>
        <translation>nach Platz im Entwurf</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/why_card.py"/>
        <source>in use</source>
        <translation>in Gebrauch</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/why_card.py"/>
        <source>paused</source>
        <translation>pausiert</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/why_card.py"/>
        <source>{}: right by how sure it was</source>
        <translation>{}: richtig nach Sicherheit</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/why_card.py"/>
        <source>{}: right by place in the draft</source>
        <translation>{}: richtig nach Platz im Entwurf</translation>
    </message>
</context>
<context>
    <name>DrafterCard</name>
    <message>
        <location filename="../../app/paceline/gui/speculation/reply_cards.py"/>
        <source>Details</source>
        <translation>Einzelheiten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/reply_cards.py"/>
        <source>Details of the drafters</source>
        <translation>Einzelheiten der Entwerfer</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/reply_cards.py"/>
        <source>Drafters</source>
        <translation>Entwerfer</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/reply_cards.py"/>
        <source>Less</source>
        <translation>Weniger</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/reply_cards.py"/>
        <source>guesses that were right</source>
        <translation>richtige Vermutungen</translation>
    </message>
</context>
<context>
    <name>Drafters</name>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>A smaller model of the same family writes ahead; the main model checks it in one go.</source>
        <translation>Ein kleineres Modell derselben Familie schreibt voraus; das Hauptmodell prüft es auf einmal.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Auto</source>
        <translation>Auto</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Copies the reply that is being replaced, as far as the new one keeps it; needs no second model.</source>
        <translation>Übernimmt die Antwort, die ersetzt wird, soweit die neue sie behält; braucht kein zweites Modell.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Copies what followed the same long run of tokens; good for rewriting and quoting.</source>
        <translation>Kopiert, was derselben langen Tokenfolge folgte; gut zum Umschreiben und Zitieren.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Copies what followed the same words earlier in this chat; needs no second model.</source>
        <translation>Kopiert, was in diesem Chat denselben Wörtern folgte; braucht kein zweites Modell.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Copies what mostly followed the longest match in this chat or earlier ones; needs no second model.</source>
        <translation>Kopiert, was der längsten Übereinstimmung in diesem oder früheren Chats meist folgte; braucht kein zweites Modell.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Counts what follows short runs of tokens in this chat and in a corpus of your choice.</source>
        <translation>Zählt, was kurzen Tokenfolgen folgt: in diesem Chat und in einem Korpus Ihrer Wahl.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Draft model</source>
        <translation>Entwurfsmodell</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Drafts what has followed the same run of tokens often enough; good for code.</source>
        <translation>Entwirft, was derselben Tokenfolge oft genug gefolgt ist; gut für Code.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Drafts what the grammar forces; works by itself wherever there is one.</source>
        <translation>Entwirft, was die Grammatik erzwingt; wirkt von selbst, wo es eine gibt.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Drafts with whatever pays in each step, by what was measured, and decodes plainly where nothing does.</source>
        <translation>Entwirft in jedem Schritt mit dem, was sich nach den Messungen lohnt, und dekodiert einfach, wo sich nichts lohnt.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Earlier reply</source>
        <translation>Frühere Antwort</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Grammar</source>
        <translation>Grammatik</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Layers that were trained with the model predict further tokens from its states: a drafter that needs no second model.</source>
        <translation>Schichten, die mit dem Modell trainiert wurden, sagen aus seinen Zuständen weitere Token voraus: Entwürfe ohne zweites Modell.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>MTP head</source>
        <translation>MTP-Kopf</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>N-gram counts</source>
        <translation>N-Gramm-Zählung</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>N-gram map</source>
        <translation>N-Gramm-Tabelle</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>N-gram map, 4 endings</source>
        <translation>N-Gramm-Tabelle, 4 Enden</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>N-gram pool</source>
        <translation>N-Gramm-Vorrat</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>N-gram, simple</source>
        <translation>N-Gramm, einfach</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Off</source>
        <translation>Aus</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Plain decoding, one token per step: the yardstick for everything else.</source>
        <translation>Einfaches Dekodieren, ein Token je Schritt: der Maßstab für alles andere.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Prompt lookup</source>
        <translation>Nachschlagen im Prompt</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Recognises long passages from this chat by their hash, in constant memory.</source>
        <translation>Erkennt lange Stellen aus diesem Chat an ihrem Hash, mit gleichbleibendem Speicher.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Suffix match</source>
        <translation>Suffix-Suche</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Tells apart what may follow the same run of tokens and drafts what mostly does.</source>
        <translation>Unterscheidet, was derselben Tokenfolge folgen kann, und entwirft, was es meist tut.</translation>
    </message>
</context>
<context>
    <name>DraftersCard</name>
    <message>
        <location filename="../../app/paceline/gui/run/drafters_card.py"/>
        <source>Calls</source>
        <translation>Aufrufe</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/drafters_card.py"/>
        <source>Drafter</source>
        <translation>Entwerfer</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/drafters_card.py"/>
        <source>Drafters</source>
        <translation>Entwerfer</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/drafters_card.py"/>
        <source>Drafts with a right guess</source>
        <translation>Entwürfe mit richtiger Vermutung</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/drafters_card.py"/>
        <source>Guesses that were right</source>
        <translation>Richtige Vermutungen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/drafters_card.py"/>
        <source>Guesses that were right, by their place in the draft</source>
        <translation>Richtige Vermutungen nach ihrem Platz im Entwurf</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/drafters_card.py"/>
        <source>Per draft</source>
        <translation>Je Entwurf</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/drafters_card.py"/>
        <source>Rate</source>
        <translation>Anteil</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/drafters_card.py"/>
        <source>Time</source>
        <translation>Zeit</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/drafters_card.py"/>
        <source>place {}: {} of {} ({})</source>
        <translation>Platz {}: {} von {} ({})</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/drafters_card.py"/>
        <source>{}, right by the place in the draft: {}</source>
        <translation>{}, richtig nach dem Platz im Entwurf: {}</translation>
    </message>
</context>
<context>
    <name>DropZones</name>
    <message>
        <location filename="../../app/paceline/gui/kit/drop_zones.py"/>
        <source>Attach to the message</source>
        <translation>An die Nachricht anhängen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/kit/drop_zones.py"/>
        <source>Look here for models</source>
        <translation>Hier nach Modellen suchen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/kit/drop_zones.py"/>
        <source>Open as the model</source>
        <translation>Als Modell öffnen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/kit/drop_zones.py"/>
        <source>Open it</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/kit/drop_zones.py"/>
        <source>Use as draft model</source>
        <translation>Als Entwurfsmodell verwenden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/kit/drop_zones.py"/>
        <source>exported chats</source>
        <translation>exportierte Chats</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/kit/drop_zones.py"/>
        <source>from now on, in this folder</source>
        <translation>ab jetzt, in diesem Ordner</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/kit/drop_zones.py"/>
        <source>guesses ahead</source>
        <translation>rät voraus</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/kit/drop_zones.py"/>
        <source>text and code files</source>
        <translation>Text- und Code-Dateien</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/kit/drop_zones.py"/>
        <source>writes the text</source>
        <translation>schreibt den Text</translation>
    </message>
</context>
<context>
    <name>EndLine</name>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_list.py"/>
        <source>Go to the latest message</source>
        <translation>Zur neuesten Nachricht</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_list.py"/>
        <source>↓ Latest</source>
        <translation>↓ Neuestes</translation>
    </message>
</context>
<context>
    <name>ErrorBar</name>
    <message>
        <location filename="../../app/paceline/gui/kit/notices.py"/>
        <source>Dismiss</source>
        <translation>Verwerfen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/kit/notices.py"/>
        <source>Dismiss the message</source>
        <translation>Meldung verwerfen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/kit/notices.py"/>
        <source>Less</source>
        <translation>Weniger</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/kit/notices.py"/>
        <source>More</source>
        <translation>Mehr</translation>
    </message>
</context>
<context>
    <name>Example</name>
    <message>
        <location filename="../../app/paceline/gui/welcome/example.py"/>
        <source>Again</source>
        <translation>Noch einmal</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/welcome/example.py"/>
        <source>Asked: {}</source>
        <translation>Frage: {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/welcome/example.py"/>
        <source>Recorded on {} with {}, {}.</source>
        <translation>Aufgenommen auf {} mit {}, {}.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/welcome/example.py"/>
        <source>With drafts</source>
        <translation>Mit Entwürfen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/welcome/example.py"/>
        <source>Without drafts</source>
        <translation>Ohne Entwürfe</translation>
    </message>
</context>
<context>
    <name>ExchangeController</name>
    <message>
        <location filename="../../app/paceline/gui/conversations/exchange.py"/>
        <source>Everything, to import it again (*.json)</source>
        <translation>Alles, zum Wiedereinlesen (*.json)</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/exchange.py"/>
        <source>Export the chat</source>
        <translation>Chat exportieren</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/exchange.py"/>
        <source>Exported as {}.</source>
        <translation>Exportiert als {}.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/exchange.py"/>
        <source>Markdown (*.md)</source>
        <translation>Markdown (*.md)</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/exchange.py"/>
        <source>Markdown without figures (*.md)</source>
        <translation>Markdown ohne Zahlen (*.md)</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/exchange.py"/>
        <source>Show folder</source>
        <translation>Ordner zeigen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/exchange.py"/>
        <source>The chat is in the clipboard, as Markdown.</source>
        <translation>Der Chat ist in der Zwischenablage, als Markdown.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/exchange.py"/>
        <source>The private chat itself is still not stored.</source>
        <translation>Der private Chat selbst wird weiterhin nicht gespeichert.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/exchange.py"/>
        <source>Web page with token colours (*.html)</source>
        <translation>Webseite mit Token-Farben (*.html)</translation>
    </message>
</context>
<context>
    <name>Export</name>
    <message>
        <location filename="../../app/paceline/chat/exchange/words.py"/>
        <source>Beside version {other} of {n}</source>
        <translation>Neben Version {other} von {n}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/chat/exchange/words.py"/>
        <source>Edited by hand.</source>
        <translation>Von Hand geändert.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/chat/exchange/words.py"/>
        <source>Exported by Paceline {version} on {date}</source>
        <translation>Exportiert von Paceline {version} am {date}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/chat/exchange/words.py"/>
        <source>Reasoning</source>
        <translation>Gedankengang</translation>
    </message>
    <message>
        <location filename="../../app/paceline/chat/exchange/words.py"/>
        <source>Reply</source>
        <translation>Antwort</translation>
    </message>
    <message>
        <location filename="../../app/paceline/chat/exchange/words.py"/>
        <source>System prompt</source>
        <translation>System-Prompt</translation>
    </message>
    <message>
        <location filename="../../app/paceline/chat/exchange/words.py"/>
        <source>This reply failed: {why}</source>
        <translation>Diese Antwort schlug fehl: {why}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/chat/exchange/words.py"/>
        <source>Who wrote ahead:</source>
        <translation>Wer vorausschrieb:</translation>
    </message>
    <message>
        <location filename="../../app/paceline/chat/exchange/words.py"/>
        <source>You</source>
        <translation>Sie</translation>
    </message>
    <message>
        <location filename="../../app/paceline/chat/exchange/words.py"/>
        <source>alone about {}</source>
        <translation>allein etwa {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/chat/exchange/words.py"/>
        <source>confidence {:.2f}</source>
        <translation>Sicherheit {:.2f}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/chat/exchange/words.py"/>
        <source>first token {:.2f} s</source>
        <translation>erstes Token {:.2f} s</translation>
    </message>
    <message>
        <location filename="../../app/paceline/chat/exchange/words.py"/>
        <source>guess of {who} · {place} of {total} · step {step}</source>
        <translation>Vermutung von {who} · {place} von {total} · Schritt {step}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/chat/exchange/words.py"/>
        <source>part {} of the reply</source>
        <translation>Teil {} der Antwort</translation>
    </message>
    <message>
        <location filename="../../app/paceline/chat/exchange/words.py"/>
        <source>the model itself</source>
        <translation>das Modell selbst</translation>
    </message>
    <message>
        <location filename="../../app/paceline/chat/exchange/words.py"/>
        <source>the model's own · step {step}</source>
        <translation>vom Modell selbst · Schritt {step}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/chat/exchange/words.py"/>
        <source>{name} ({size})</source>
        <translation>{name} ({size})</translation>
    </message>
    <message>
        <location filename="../../app/paceline/chat/exchange/words.py"/>
        <source>{share:.0f} % of {n} guesses were right</source>
        <translation>{share:.0f} % von {n} Vermutungen richtig</translation>
    </message>
    <message>
        <location filename="../../app/paceline/chat/exchange/words.py"/>
        <source>{strategy} for {model}</source>
        <translation>{strategy} für {model}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/chat/exchange/words.py"/>
        <source>{} tokens/s</source>
        <translation>{} Token/s</translation>
    </message>
</context>
<context>
    <name>ExpressionList</name>
    <message>
        <location filename="../../app/paceline/gui/serving/expressions.py"/>
        <source>Add</source>
        <translation>Hinzufügen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/expressions.py"/>
        <source>Changes of such lines count again</source>
        <translation>Änderungen solcher Zeilen zählen dann wieder</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/expressions.py"/>
        <source>Do not ignore {} any more</source>
        <translation>{} nicht mehr übergehen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/expressions.py"/>
        <source>Regular expression</source>
        <translation>Regulärer Ausdruck</translation>
    </message>
</context>
<context>
    <name>Fields</name>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>A draft ends where it becomes less likely than this, judged by how much of the earlier reply came again so far. Lower makes longer drafts.</source>
        <translation>Ein Entwurf endet, wo er unwahrscheinlicher wird als dies, gemessen daran, wie viel von der früheren Antwort bisher wiederkam. Weniger macht längere Entwürfe.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>A draft ends where it becomes less likely than this, judged by the match's length and by how often each token followed. Lower makes longer drafts.</source>
        <translation>Ein Entwurf endet, wo er unwahrscheinlicher wird als dies, gemessen an der Länge der Übereinstimmung und daran, wie oft jedes Token folgte. Kleiner macht längere Entwürfe.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>A way of computing attention that takes less memory</source>
        <translation>Eine Art, die Aufmerksamkeit zu berechnen, die weniger Speicher braucht</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Beyond windows</source>
        <translation>Über Fenster hinaus</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Cache on device</source>
        <translation>Cache auf dem Gerät</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Context</source>
        <translation>Kontext</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Copies the weights into an order that suits special instructions of the processor, such as AMX: faster, and takes memory for the copy. Take the tick away if the engine crashes while a model is loaded, or if memory is short.</source>
        <translation>Kopiert die Gewichte in eine Reihenfolge, die besonderen Befehlen des Prozessors wie AMX liegt: schneller, aber die Kopie braucht Speicher. Nehmen Sie den Haken weg, wenn die Engine beim Laden abstürzt oder der Speicher knapp ist.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Device</source>
        <translation>Gerät</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Drafting stops where the draft model's favourite token is less likely than this.</source>
        <translation>Der Entwurf endet, wo das liebste Token des Entwurfsmodells unwahrscheinlicher ist als dies.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Drafts shorter than this are dropped. Less pays with dense models, whose wide steps cost little more than narrow ones.</source>
        <translation>Kürzere Entwürfe werden fallen gelassen. Kleiner lohnt sich bei dichten Modellen, deren breite Schritte kaum mehr kosten als schmale.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Drafts shorter than this are thrown away and the step is a plain one.</source>
        <translation>Kürzere Entwürfe werden weggeworfen, und der Schritt ist ein einfacher.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Each device's share, in proportions, such as 3, 1</source>
        <translation>Anteil jedes Geräts, als Verhältnis, etwa 3, 1</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Experts on CPU</source>
        <translation>Experten auf der CPU</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Flash attention</source>
        <translation>Flash Attention</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Free text</source>
        <translation>Freier Text</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Frequency penalty</source>
        <translation>Häufigkeitsstrafe</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>GPU layers</source>
        <translation>GPU-Schichten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Grammar</source>
        <translation>Grammatik</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>How keys are kept: q8_0 takes half the memory of f16, at hardly any loss</source>
        <translation>Wie Schlüssel aufbewahrt werden: q8_0 braucht halb so viel Speicher wie f16, fast ohne Verlust</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>How many times the key must have occurred before it drafts; one of its continuations must then be twice as frequent as all others together.</source>
        <translation>Wie oft der Schlüssel vorgekommen sein muss, bevor er entwirft; eine seiner Fortsetzungen muss dann doppelt so häufig sein wie alle anderen zusammen.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>How many times the same tokens must have followed the key before they are drafted.</source>
        <translation>Wie oft dieselben Token dem Schlüssel gefolgt sein müssen, bevor sie entworfen werden.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>How much chance has a say. 0 always takes the likeliest token; usual are 0.2 for facts and code, 0.7 for chat, 1 for stories. The lower, the more guesses are right.</source>
        <translation>Wie viel der Zufall mitredet. 0 nimmt immer das wahrscheinlichste Token; üblich sind 0,2 für Fakten und Code, 0,7 für Gespräche, 1 für Geschichten. Je niedriger, desto mehr Vermutungen sind richtig.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>How several devices share the model</source>
        <translation>Wie sich mehrere Geräte das Modell teilen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>How values are kept; a quantised type needs flash attention</source>
        <translation>Wie Werte aufbewahrt werden; ein quantisierter Typ braucht Flash Attention</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>JSON schema</source>
        <translation>JSON-Schema</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>K cache</source>
        <translation>K-Cache</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Key length</source>
        <translation>Schlüssellänge</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Keys and values of a layer are kept on the device that has the layer, which is faster. Without the tick they are kept in this computer's memory, so that more layers find room on the device.</source>
        <translation>Schlüssel und Werte einer Schicht liegen auf dem Gerät, das die Schicht hat; das ist schneller. Ohne den Haken liegen sie im Speicher dieses Computers, so dass mehr Schichten auf dem Gerät Platz finden.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Layers kept on GPUs or on devices of RPC servers; auto: as many as there is room for</source>
        <translation>Schichten, die auf GPUs oder auf Geräten von RPC-Servern liegen; auto: so viele, wie Platz finden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Layers with a sliding window, as in Gemma and gpt-oss, keep the whole chat, so that any place of it can be gone back to at once, and the text is the same with any strategy. Without the tick they keep their window alone: less memory, but a change far back in a chat reads the whole prompt again.</source>
        <translation>Schichten mit gleitendem Fenster, wie in Gemma und gpt-oss, behalten den ganzen Chat: So kann sofort an jede Stelle zurückgegangen werden, und der Text ist mit jeder Strategie derselbe. Ohne das Häkchen behalten sie nur ihr Fenster: weniger Speicher, aber eine Änderung weit vorn im Chat liest den ganzen Prompt noch einmal.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Layers, counted from the first, whose experts stay in the processor's memory: for mixture-of-experts models that do not fit onto the GPU. One below 0 is all.</source>
        <translation>Schichten, von der ersten an gezählt, deren Experten im Speicher des Prozessors bleiben: für Mixture-of-Experts-Modelle, die nicht auf die GPU passen. Eins unter 0 heißt alle.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Logit bias</source>
        <translation>Logit-Verschiebung</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Longest draft</source>
        <translation>Längster Entwurf</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Longest match</source>
        <translation>Längste Übereinstimmung</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Longest reply</source>
        <translation>Längste Antwort</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Main device</source>
        <translation>Hauptgerät</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Makes the last 64 tokens less likely to come again. Helps small models that go in circles; harms code and tables. Usual: 1 to 1.15; 1 is off.</source>
        <translation>Macht die letzten 64 Token weniger wahrscheinlich. Hilft kleinen Modellen, die sich im Kreis drehen; schadet Code und Tabellen. Üblich: 1 bis 1,15; 1 ist aus.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Match length</source>
        <translation>Übereinstimmung</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Min-p</source>
        <translation>Min-p</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Min. confidence</source>
        <translation>Min. Sicherheit</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Min. hits</source>
        <translation>Min. Treffer</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>New seed each time</source>
        <translation>Jedes Mal neuer Seed</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>No logit bias</source>
        <translation>Keine Logit-Verschiebung</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>No stop strings</source>
        <translation>Keine Stopptexte</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>No system prompt</source>
        <translation>Kein System-Prompt</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Number of the device that holds everything when one device does</source>
        <translation>Nummer des Geräts, das alles hält, wenn eines es tut</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Numbers added to the logits of single tokens, by their ids; -inf forbids a token. Usual: -5 to 5. For example: 13=-2.5, 50=-inf</source>
        <translation>Zahlen, die zu den Logits einzelner Token addiert werden, nach ihrer Nummer; -inf verbietet ein Token. Üblich: -5 bis 5. Zum Beispiel: 13=-2.5, 50=-inf</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Only the likeliest tokens that together have this probability: few where the model is sure, many where it is not. Usual: 0.8 to 0.95; 1 means all.</source>
        <translation>Nur die wahrscheinlichsten Token, die zusammen diese Wahrscheinlichkeit haben: wenige, wo das Modell sicher ist, viele, wo nicht. Üblich: 0,8 bis 0,95; 1 heißt alle.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Only this many of the likeliest tokens can be drawn, whatever their probabilities. Usual: 20 to 100; 0 means all.</source>
        <translation>Nur so viele der wahrscheinlichsten Token können gezogen werden, wie wahrscheinlich sie auch sind. Üblich: 20 bis 100; 0 heißt alle.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Only tokens that have at least this share of the likeliest one's probability. Keeps high temperatures readable. Usual: 0.02 to 0.1; 0 means all.</source>
        <translation>Nur Token, die mindestens diesen Anteil der größten Wahrscheinlichkeit haben. Hält hohe Temperaturen lesbar. Üblich: 0,02 bis 0,1; 0 heißt alle.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Presence penalty</source>
        <translation>Präsenzstrafe</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Processor threads; auto: physical cores - 1</source>
        <translation>Prozessor-Threads; auto: physische Kerne - 1</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Repack weights</source>
        <translation>Gewichte umpacken</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Repeat penalty</source>
        <translation>Wiederholung</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Seed</source>
        <translation>Seed</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Shares</source>
        <translation>Anteile</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Shortest draft</source>
        <translation>Kürzester Entwurf</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Shortest match</source>
        <translation>Kürzester Treffer</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Split</source>
        <translation>Aufteilung</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Stands before every conversation and says what the model should be and how it should answer. It takes room in the context.</source>
        <translation>Steht vor jeder Unterhaltung und sagt, was das Modell sein und wie es antworten soll. Es nimmt Platz im Kontext ein.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Stop strings</source>
        <translation>Stopptexte</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>System prompt</source>
        <translation>System-Prompt</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Taken once for each time that a token is among the last 64: the more often, the less likely. Usual: 0 to 0.5; 0 is off.</source>
        <translation>Wird einmal für jedes Vorkommen unter den letzten 64 Token abgezogen: je öfter, desto unwahrscheinlicher. Üblich: 0 bis 0,5; 0 ist aus.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Taken once from the logit of every token among the last 64: draws the reply to new words. Usual: 0 to 1; 0 is off.</source>
        <translation>Wird vom Logit jedes Tokens unter den letzten 64 einmal abgezogen: lenkt die Antwort zu neuen Wörtern. Üblich: 0 bis 1; 0 ist aus.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Temperature</source>
        <translation>Temperatur</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>The devices that layers are put on, with commas between them; auto: those of RPC servers and all GPUs</source>
        <translation>Die Geräte, auf denen Schichten liegen, durch Kommas getrennt; auto: die von RPC-Servern und alle GPUs</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>The reply ends there, wherever it is. A token is about three quarters of an English word. Usual: 512 to 4096.</source>
        <translation>Dort endet die Antwort, wo immer sie gerade ist. Ein Token ist etwa drei Viertel eines englischen Wortes. Üblich: 512 bis 4096.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>The same seed gives the same reply to the same question, with any strategy. For comparisons.</source>
        <translation>Derselbe Seed ergibt auf dieselbe Frage dieselbe Antwort, mit jeder Strategie. Für Vergleiche.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Threads</source>
        <translation>Threads</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Threads for batches</source>
        <translation>Threads für Stapel</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Tokens ahead</source>
        <translation>Token voraus</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Tokens copied per step at most. More pays where long stretches are repeated word for word; what the batch cannot take is cut.</source>
        <translation>Höchstens so viele Token werden je Schritt kopiert. Mehr lohnt sich, wo lange Stellen Wort für Wort wiederkehren; was der Batch nicht fasst, wird gekürzt.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Tokens copied per step. More pays where the text repeats itself for long stretches.</source>
        <translation>So viele Token werden je Schritt kopiert. Mehr lohnt sich, wo sich der Text über lange Strecken wiederholt.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Tokens drafted per step at most. A head is trained for one or a few; each further one is right more seldom.</source>
        <translation>Wie viele Token ein Schritt höchstens entwirft. Ein Kopf ist für eines oder wenige trainiert; jedes weitere ist seltener richtig.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Tokens drafted per step at most. Longer drafts pay when most guesses are right; what the batch cannot take is cut.</source>
        <translation>Höchstens so viele Token werden je Schritt entworfen. Längere Entwürfe lohnen sich, wenn die meisten Vermutungen richtig sind; was der Batch nicht fasst, wird gekürzt.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Tokens drafted per step at most. More pays where an edit changes little.</source>
        <translation>Höchstens so viele Token werden je Schritt entworfen. Mehr lohnt sich, wo eine Änderung wenig ändert.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Tokens drafted per step at most. More pays where the text repeats itself for long stretches.</source>
        <translation>Höchstens so viele Token werden je Schritt entworfen. Mehr lohnt sich, wo sich der Text über lange Strecken wiederholt.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Tokens drafted per step at most; fewer where the counts leave it open what follows.</source>
        <translation>Höchstens so viele Token werden je Schritt entworfen; weniger, wo die Zählung offen lässt, was folgt.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Tokens drafted per step at most; how many pay is decided anew in every step.</source>
        <translation>Höchstens so viele Token werden je Schritt entworfen; wie viele sich lohnen, wird in jedem Schritt neu entschieden.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Tokens drafted per step at most; the batch and the context may allow fewer.</source>
        <translation>Höchstens so viele Token werden je Schritt entworfen; Batch und Kontext können weniger zulassen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Tokens that fit into a chat; auto: 4096, or fewer</source>
        <translation>Token, die in einen Chat passen; auto: 4096 oder weniger</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Tokens that must agree with an earlier place, tried from this length downwards. Longer matches are rarer and surer.</source>
        <translation>So viele Token müssen mit einer früheren Stelle übereinstimmen, von dieser Länge abwärts versucht. Längere Übereinstimmungen sind seltener und sicherer.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Tokens that must agree with an earlier place. Below 16 stray hits become frequent.</source>
        <translation>So viele Token müssen mit einer früheren Stelle übereinstimmen. Unter 16 werden Zufallstreffer häufig.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Tokens that must agree with an earlier place. More makes drafts rarer and surer.</source>
        <translation>So viele Token müssen mit einer früheren Stelle übereinstimmen. Mehr macht Entwürfe seltener und sicherer.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Tokens that must agree with an earlier place. Shorter matches are found more often and are less sure.</source>
        <translation>So viele Token müssen mit einer früheren Stelle übereinstimmen. Kürzere Übereinstimmungen finden sich öfter und sind unsicherer.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Tokens that must agree with earlier places. Shorter keys are found more often and are less sure.</source>
        <translation>So viele Token müssen mit früheren Stellen übereinstimmen. Kürzere Schlüssel finden sich öfter und sind unsicherer.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft"/>
        <source>Tokens that must have followed the key in full; they are the draft. Fewer are found more often; what the batch cannot take is cut.</source>
        <translation>So viele Token müssen dem Schlüssel vollständig gefolgt sein; sie sind der Entwurf. Weniger finden sich öfter; was der Batch nicht fasst, wird gekürzt.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Top-k</source>
        <translation>Top-k</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Top-p</source>
        <translation>Top-p</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>V cache</source>
        <translation>V-Cache</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>all</source>
        <translation>alle</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>auto</source>
        <translation>auto</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>layers</source>
        <translation>Schichten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>one device</source>
        <translation>ein Gerät</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>rows</source>
        <translation>Zeilen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>tokens</source>
        <translation>Token</translation>
    </message>
</context>
<context>
    <name>Figures</name>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>Context</source>
        <translation>Kontext</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>Cut off at the limit of {} tokens.</source>
        <translation>Abgeschnitten bei der Grenze von {} Token.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>Cut off: the context is full.</source>
        <translation>Abgeschnitten: Der Kontext ist voll.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>Edited by you.</source>
        <translation>Von Ihnen geändert.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>File</source>
        <translation>Datei</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>Fingerprint</source>
        <translation>Fingerabdruck</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>GPU layers</source>
        <translation>GPU-Schichten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>Nothing was drafted: no guess was sure enough.</source>
        <translation>Nichts wurde entworfen: Keine Vermutung war sicher genug.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>Parameters</source>
        <translation>Parameter</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>Stopped before its end.</source>
        <translation>Vor dem Ende angehalten.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>Threads</source>
        <translation>Threads</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>Without drafts: one token per step.</source>
        <translation>Ohne Entwürfe: ein Token je Schritt.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>alone about {}</source>
        <translation>allein etwa {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>attention</source>
        <translation>Attention</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>calls: begin {}, draft {}, accept {}</source>
        <translation>Aufrufe: Beginn {}, Entwurf {}, Annahme {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>continued: part {} of the reply has these figures</source>
        <translation>fortgesetzt: Diese Zahlen gehören zu Teil {} der Antwort</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>drafts {}, with a right guess {}</source>
        <translation>Entwürfe {}, davon mit richtiger Vermutung {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>first token {} s</source>
        <translation>erstes Token {} s</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>guesses {}, right {}</source>
        <translation>Vermutungen {}, davon richtig {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>kept {} of the {} tokens of the earlier reply</source>
        <translation>{} der {} Token der früheren Antwort behalten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>llama.cpp's ({})</source>
        <translation>von llama.cpp ({})</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>machine busy</source>
        <translation>Rechner beschäftigt</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>nothing drafted</source>
        <translation>nichts entworfen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>own ({})</source>
        <translation>eigene ({})</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>prompt: {} tokens ({} reused), {:.2f} s</source>
        <translation>Prompt: {} Token ({} wiederverwendet), {:.2f} s</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>strategy {}, seed {}</source>
        <translation>Strategie {}, Seed {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>time: begin {}, draft {}, accept {}</source>
        <translation>Zeit: Beginn {}, Entwurf {}, Annahme {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>tokens: {}, steps: {}, {:.2f} s</source>
        <translation>Token: {}, Schritte: {}, {:.2f} s</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>{:,} tokens</source>
        <translation>{:,} Token</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>{:,} tokens read again</source>
        <translation>{:,} Token erneut gelesen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>{:.2f} tokens per step</source>
        <translation>{:.2f} Token je Schritt</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>{} drafted after the end of the reply, never judged</source>
        <translation>{} hinter dem Ende der Antwort entworfen, nie geprüft</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>{} for one token, {} for more</source>
        <translation>{} für ein Token, {} für mehrere</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>{} of {}</source>
        <translation>{} von {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>{} of {} guesses were right</source>
        <translation>{} von {} Vermutungen waren richtig</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>{} t/s</source>
        <translation>{} t/s</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>{} t/s, {} as fast in 95 of 100 such replies</source>
        <translation>{} t/s, in 95 von 100 solchen Antworten {} so schnell</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>{}: {} of {} before the first insertion or omission, {} of {} after it</source>
        <translation>{}: {} von {} vor der ersten Einfügung oder Auslassung, {} von {} danach</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/figures.py"/>
        <source>{}: {} of {} guesses were right, {:.2f} s spent on drafting</source>
        <translation>{}: {} von {} Vermutungen waren richtig, {:.2f} s mit Entwerfen verbracht</translation>
    </message>
</context>
<context>
    <name>FiguresCard</name>
    <message>
        <location filename="../../app/paceline/gui/run/cards.py"/>
        <source>Figures</source>
        <translation>Zahlen</translation>
    </message>
</context>
<context>
    <name>FileField</name>
    <message>
        <location filename="../../app/paceline/gui/kit/file_dialogs.py"/>
        <source>Choose…</source>
        <translation>Wählen …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/kit/file_dialogs.py"/>
        <source>Remove</source>
        <translation>Entfernen</translation>
    </message>
</context>
<context>
    <name>FindBar</name>
    <message>
        <location filename="../../app/paceline/gui/kit/search_field.py"/>
        <source>Close (Esc)</source>
        <translation>Schließen (Esc)</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/kit/search_field.py"/>
        <source>Find in this chat</source>
        <translation>In diesem Chat suchen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/kit/search_field.py"/>
        <source>Next hit (Enter)</source>
        <translation>Nächster Treffer (Eingabe)</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/kit/search_field.py"/>
        <source>Previous hit (Shift+Enter)</source>
        <translation>Vorheriger Treffer (Umschalt+Eingabe)</translation>
    </message>
</context>
<context>
    <name>FindController</name>
    <message>
        <location filename="../../app/paceline/gui/chat/find.py"/>
        <source>Not found</source>
        <translation>Nicht gefunden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/find.py"/>
        <source>{} of {}</source>
        <translation>{} von {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/find.py"/>
        <source>{} so far…</source>
        <translation>bisher {} …</translation>
    </message>
</context>
<context>
    <name>FolderChoice</name>
    <message>
        <location filename="../../app/paceline/gui/conversations/folders.py"/>
        <source>Move to folder</source>
        <translation>In Ordner verschieben</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/folders.py"/>
        <source>New folder…</source>
        <translation>Neuer Ordner …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/folders.py"/>
        <source>No folder</source>
        <translation>Kein Ordner</translation>
    </message>
</context>
<context>
    <name>FolderEditor</name>
    <message>
        <location filename="../../app/paceline/gui/conversations/folders.py"/>
        <source>Folder</source>
        <translation>Ordner</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/folders.py"/>
        <source>Instructions</source>
        <translation>Anweisungen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/folders.py"/>
        <source>Instructions, such as: Answer briefly.</source>
        <translation>Anweisungen, etwa: Antworte kurz.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/folders.py"/>
        <source>Name of the folder</source>
        <translation>Name des Ordners</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/folders.py"/>
        <source>New folder</source>
        <translation>Neuer Ordner</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/folders.py"/>
        <source>Save</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/folders.py"/>
        <source>The model gets the instructions in every chat of the folder, before the chat's own system prompt.</source>
        <translation>Das Modell bekommt die Anweisungen in jedem Chat des Ordners, vor dem eigenen System-Prompt des Chats.</translation>
    </message>
</context>
<context>
    <name>FolderField</name>
    <message>
        <location filename="../../app/paceline/gui/settings/downloads_page.py"/>
        <source>Choose the folder of downloads</source>
        <translation>Ordner für Downloads wählen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/downloads_page.py"/>
        <source>Choose…</source>
        <translation>Wählen …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/downloads_page.py"/>
        <source>Nothing can be written to {}. Choose another folder.</source>
        <translation>In {} kann nichts geschrieben werden. Wählen Sie einen anderen Ordner.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/downloads_page.py"/>
        <source>Usual folder</source>
        <translation>Üblicher Ordner</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/downloads_page.py"/>
        <source>Where downloads go</source>
        <translation>Ordner für Downloads</translation>
    </message>
</context>
<context>
    <name>FolderList</name>
    <message>
        <location filename="../../app/paceline/gui/settings/forms.py"/>
        <source>Add a folder…</source>
        <translation>Ordner hinzufügen …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/forms.py"/>
        <source>Do not look here any more; nothing is deleted</source>
        <translation>Hier nicht mehr suchen; gelöscht wird nichts</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/forms.py"/>
        <source>Do not look in {}</source>
        <translation>Nicht in {} suchen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/forms.py"/>
        <source>Look for models in a folder</source>
        <translation>In einem Ordner nach Modellen suchen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/forms.py"/>
        <source>None of your own yet.</source>
        <translation>Noch kein eigener.</translation>
    </message>
</context>
<context>
    <name>FolderMenu</name>
    <message>
        <location filename="../../app/paceline/gui/conversations/folders.py"/>
        <source>Delete the folder</source>
        <translation>Ordner löschen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/folders.py"/>
        <source>Name and instructions…</source>
        <translation>Name und Anweisungen …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/folders.py"/>
        <source>New chat in it</source>
        <translation>Neuer Chat darin</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/folders.py"/>
        <source>Search in it</source>
        <translation>Darin suchen</translation>
    </message>
</context>
<context>
    <name>FoundList</name>
    <message>
        <location filename="../../app/paceline/gui/conversations/found_list.py"/>
        <source>1 chat</source>
        <translation>1 Chat</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/found_list.py"/>
        <source>1 hit</source>
        <translation>1 Treffer</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/found_list.py"/>
        <source>Search results</source>
        <translation>Suchergebnisse</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/found_list.py"/>
        <source>The best {} hits</source>
        <translation>Die besten {} Treffer</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/found_list.py"/>
        <source>in 1 chat</source>
        <translation>in 1 Chat</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/found_list.py"/>
        <source>in {} chats</source>
        <translation>in {} Chats</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/found_list.py"/>
        <source>{} chats</source>
        <translation>{} Chats</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/found_list.py"/>
        <source>{} hits</source>
        <translation>{} Treffer</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/found_list.py"/>
        <source>{}, without the signs</source>
        <translation>{}, ohne die Zeichen</translation>
    </message>
</context>
<context>
    <name>GeneralPage</name>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>A message is sent by</source>
        <translation>Eine Nachricht sendet</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>After the first reply of a chat, while nothing else is to be done; a title of yours stays. Off: a title is the beginning of the first question.</source>
        <translation>Nach der ersten Antwort eines Chats, wenn sonst nichts zu tun ist; ein eigener Titel bleibt. Aus: Der Titel ist der Anfang der ersten Frage.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Chats</source>
        <translation>Chats</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Ctrl+Enter</source>
        <translation>Strg+Eingabe</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Edits keep what need not change</source>
        <translation>Änderungen behalten, was bleiben kann</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Enter</source>
        <translation>Eingabe</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>General</source>
        <translation>Allgemein</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Language</source>
        <translation>Sprache</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Let the model write titles</source>
        <translation>Das Modell Titel schreiben lassen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Like the desktop</source>
        <translation>Wie der Desktop</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Off: every start shows a new, empty chat.</source>
        <translation>Aus: Jeder Start zeigt einen neuen, leeren Chat.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Read while you type</source>
        <translation>Schon beim Schreiben lesen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Shift+Enter always makes a new line, and Ctrl+Enter always sends.</source>
        <translation>Umschalt+Eingabe macht immer eine neue Zeile, und Strg+Eingabe sendet immer.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Shorten chats that outgrow the context</source>
        <translation>Chats kürzen, die über den Kontext hinauswachsen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Start with the last chat</source>
        <translation>Mit dem letzten Chat beginnen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Takes effect at the next start.</source>
        <translation>Gilt ab dem nächsten Start.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>The model reads the chat, attached files and finished sentences before you send them, so that its reply begins sooner; never on battery. Off: it begins to read when you send.</source>
        <translation>Das Modell liest den Chat, angehängte Dateien und fertige Sätze, bevor Sie sie senden, damit seine Antwort früher beginnt; nie im Akkubetrieb. Aus: Es liest erst, wenn Sie senden.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>The oldest messages are left out of what the model sees; the chat itself stays whole. Off: such a message is held back, and nothing is left out.</source>
        <translation>Die ältesten Nachrichten bleiben dem Modell verborgen; der Chat selbst bleibt ganz. Aus: Eine solche Nachricht wird zurückgehalten, und nichts wird ausgelassen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>The reply to an edited question is drawn with the seed of the old one and differs only where it has to. Off: every edit draws a new seed, as Regenerate does.</source>
        <translation>Die Antwort auf eine geänderte Frage wird mit dem Seed der alten gezogen und weicht nur ab, wo sie muss. Aus: Jede Änderung zieht einen neuen Seed, wie „Neu erzeugen“.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Window</source>
        <translation>Fenster</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Writing</source>
        <translation>Schreiben</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>read ahead prefill battery</source>
        <translation>vorab lesen Prefill Akku Batterie</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>seed edit</source>
        <translation>seed ändern bearbeiten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>send key enter</source>
        <translation>senden taste eingabe</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>title name</source>
        <translation>titel name</translation>
    </message>
</context>
<context>
    <name>GuideDialog</name>
    <message>
        <location filename="../../app/paceline/gui/help/guide.py"/>
        <source>Find in the guide</source>
        <translation>Im Handbuch suchen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/guide.py"/>
        <source>User guide</source>
        <translation>Handbuch</translation>
    </message>
</context>
<context>
    <name>GuidePage</name>
    <message>
        <location filename="../../app/paceline/gui/help/guide.py"/>
        <source>User guide</source>
        <translation>Handbuch</translation>
    </message>
</context>
<context>
    <name>HeadlineCard</name>
    <message>
        <location filename="../../app/paceline/gui/speculation/reply_cards.py"/>
        <source>How many times as fast as the model alone</source>
        <translation>Wievielmal so schnell wie das Modell allein</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/reply_cards.py"/>
        <source>Speed</source>
        <translation>Geschwindigkeit</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/reply_cards.py"/>
        <source>The speed of the next reply appears here, live.</source>
        <translation>Hier erscheint live, wie schnell die nächste Antwort ist.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/reply_cards.py"/>
        <source>Tokens per second that the model would have written alone, one in each step: an estimate from this reply</source>
        <translation>Token pro Sekunde, die das Modell allein geschrieben hätte, eins je Schritt: geschätzt aus dieser Antwort</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/reply_cards.py"/>
        <source>tokens/s</source>
        <translation>Token/s</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/reply_cards.py"/>
        <source>tokens/s for {}</source>
        <translation>Token/s für {}</translation>
    </message>
</context>
<context>
    <name>HelpController</name>
    <message>
        <location filename="../../app/paceline/gui/help/controller.py"/>
        <source>No file manager could be opened.</source>
        <translation>Es ließ sich keine Dateiverwaltung öffnen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/controller.py"/>
        <source>Nothing is written into a log file.</source>
        <translation>Es wird in keine Protokolldatei geschrieben.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/controller.py"/>
        <source>The file is {}.</source>
        <translation>Die Datei ist {}.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/controller.py"/>
        <source>The last lines of the log are in the clipboard.</source>
        <translation>Die letzten Zeilen des Protokolls sind in der Zwischenablage.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/controller.py"/>
        <source>The log is empty.</source>
        <translation>Das Protokoll ist leer.</translation>
    </message>
</context>
<context>
    <name>HitList</name>
    <message>
        <location filename="../../app/paceline/gui/conversations/found_list.py"/>
        <source>Chat: {}, found {} times</source>
        <translation>Chat: {}, {}-mal gefunden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/found_list.py"/>
        <source>archived</source>
        <translation>archiviert</translation>
    </message>
</context>
<context>
    <name>HubPage</name>
    <message>
        <location filename="../../app/paceline/gui/models/lists/hub_page.py"/>
        <source>Any license</source>
        <translation>Jede Lizenz</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/hub_page.py"/>
        <source>Drafts for this model</source>
        <translation>Entwurfsmodelle für dieses Modell</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/hub_page.py"/>
        <source>Fits my machine</source>
        <translation>Passt auf meinen Rechner</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/hub_page.py"/>
        <source>Hugging Face did not answer as it should</source>
        <translation>Hugging Face hat nicht geantwortet, wie es sollte</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/hub_page.py"/>
        <source>License</source>
        <translation>Lizenz</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/hub_page.py"/>
        <source>Looking at {}…</source>
        <translation>{} wird angesehen …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/hub_page.py"/>
        <source>Models on Hugging Face</source>
        <translation>Modelle auf Hugging Face</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/hub_page.py"/>
        <source>Most downloads</source>
        <translation>Meiste Downloads</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/hub_page.py"/>
        <source>Most likes</source>
        <translation>Meiste Likes</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/hub_page.py"/>
        <source>Newest</source>
        <translation>Neueste</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/hub_page.py"/>
        <source>Nothing found</source>
        <translation>Nichts gefunden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/hub_page.py"/>
        <source>Nothing is found while offline</source>
        <translation>Offline wird nichts gefunden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/hub_page.py"/>
        <source>Order</source>
        <translation>Reihenfolge</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/hub_page.py"/>
        <source>Search on Hugging Face</source>
        <translation>Auf Hugging Face suchen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/hub_page.py"/>
        <source>Searching…</source>
        <translation>Suche läuft …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/hub_page.py"/>
        <source>Trending</source>
        <translation>Im Trend</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/hub_page.py"/>
        <source>Try again</source>
        <translation>Noch einmal</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/hub_page.py"/>
        <source>Try fewer words, another license, or fewer limits.</source>
        <translation>Versuchen Sie weniger Wörter, eine andere Lizenz oder weniger Grenzen.</translation>
    </message>
</context>
<context>
    <name>ImportController</name>
    <message>
        <location filename="../../app/paceline/gui/conversations/exchange.py"/>
        <source>All files (*)</source>
        <translation>Alle Dateien (*)</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/exchange.py"/>
        <source>Chats (*.json *.jsonl)</source>
        <translation>Chats (*.json *.jsonl)</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/exchange.py"/>
        <source>Import chats</source>
        <translation>Chats importieren</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/exchange.py"/>
        <source>Imported {} chats.</source>
        <translation>{} Chats importiert.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/exchange.py"/>
        <source>Imported “{}”.</source>
        <translation>„{}“ importiert.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/exchange.py"/>
        <source>Left out: {}.</source>
        <translation>Weggelassen: {}.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/exchange.py"/>
        <source>calls of tools and their results</source>
        <translation>Aufrufe von Werkzeugen und ihre Ergebnisse</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/exchange.py"/>
        <source>files without their text</source>
        <translation>Dateien ohne ihren Text</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/exchange.py"/>
        <source>messages of the system</source>
        <translation>Nachrichten des Systems</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/exchange.py"/>
        <source>messages that were not sent</source>
        <translation>nicht gesendete Nachrichten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/exchange.py"/>
        <source>notes</source>
        <translation>Notizen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/exchange.py"/>
        <source>parts of an unknown kind</source>
        <translation>Teile unbekannter Art</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/exchange.py"/>
        <source>pictures</source>
        <translation>Bilder</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/exchange.py"/>
        <source>sound and films</source>
        <translation>Ton und Filme</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/exchange.py"/>
        <source>{} more could not be imported either.</source>
        <translation>{} weitere konnten auch nicht importiert werden.</translation>
    </message>
</context>
<context>
    <name>InstalledPage</name>
    <message>
        <location filename="../../app/paceline/gui/models/lists/installed_page.py"/>
        <source>Add a folder…</source>
        <translation>Ordner hinzufügen …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/installed_page.py"/>
        <source>Copy the path</source>
        <translation>Pfad kopieren</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/installed_page.py"/>
        <source>Largest first</source>
        <translation>Größte zuerst</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/installed_page.py"/>
        <source>Look for models in one more folder from now on</source>
        <translation>Von nun an in einem weiteren Ordner nach Modellen suchen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/installed_page.py"/>
        <source>Looking for models…</source>
        <translation>Modelle werden gesucht …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/installed_page.py"/>
        <source>Models on this computer</source>
        <translation>Modelle auf diesem Rechner</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/installed_page.py"/>
        <source>Move to the trash…</source>
        <translation>In den Papierkorb …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/installed_page.py"/>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/installed_page.py"/>
        <source>No model contains these words</source>
        <translation>Kein Modell enthält diese Wörter</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/installed_page.py"/>
        <source>No models on this computer yet</source>
        <translation>Noch keine Modelle auf diesem Rechner</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/installed_page.py"/>
        <source>Open a file…</source>
        <translation>Datei öffnen …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/installed_page.py"/>
        <source>Order</source>
        <translation>Reihenfolge</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/installed_page.py"/>
        <source>Pick a GGUF file that is not in the list</source>
        <translation>Eine GGUF-Datei wählen, die nicht in der Liste steht</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/installed_page.py"/>
        <source>Place</source>
        <translation>Ort</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/installed_page.py"/>
        <source>Search installed models</source>
        <translation>Installierte Modelle durchsuchen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/installed_page.py"/>
        <source>See recommended pairs</source>
        <translation>Empfohlene Paare ansehen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/installed_page.py"/>
        <source>Show all</source>
        <translation>Alle zeigen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/installed_page.py"/>
        <source>Show in the file manager</source>
        <translation>In der Dateiverwaltung zeigen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/installed_page.py"/>
        <source>Smallest first</source>
        <translation>Kleinste zuerst</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/installed_page.py"/>
        <source>Take a recommended pair, search on Hugging Face, or open a GGUF file.</source>
        <translation>Nehmen Sie ein empfohlenes Paar, suchen Sie auf Hugging Face oder öffnen Sie eine GGUF-Datei.</translation>
    </message>
</context>
<context>
    <name>KeepRow</name>
    <message>
        <location filename="../../app/paceline/gui/settings/prompt_cache_page.py"/>
        <source>Delete and switch off</source>
        <translation>Löschen und ausschalten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/prompt_cache_page.py"/>
        <source>Leave it on</source>
        <translation>Eingeschaltet lassen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/prompt_cache_page.py"/>
        <source>What is kept is deleted, in memory and on disk.</source>
        <translation>Was aufgehoben ist, wird gelöscht, im Speicher und auf der Festplatte.</translation>
    </message>
</context>
<context>
    <name>KeptRow</name>
    <message>
        <location filename="../../app/paceline/gui/settings/prompt_cache_page.py"/>
        <source>Forget now</source>
        <translation>Jetzt vergessen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/prompt_cache_page.py"/>
        <source>Forgotten, in memory, too.</source>
        <translation>Vergessen, auch im Speicher.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/prompt_cache_page.py"/>
        <source>Nothing on disk</source>
        <translation>Nichts auf der Festplatte</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/prompt_cache_page.py"/>
        <source>The next prompts are read again</source>
        <translation>Die nächsten Prompts werden wieder gelesen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/prompt_cache_page.py"/>
        <source>{} on disk</source>
        <translation>{} auf der Festplatte</translation>
    </message>
</context>
<context>
    <name>KeyRow</name>
    <message>
        <location filename="../../app/paceline/gui/serving/page.py"/>
        <source>Copied</source>
        <translation>Kopiert</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/page.py"/>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/page.py"/>
        <source>Copy the key</source>
        <translation>Den Schlüssel kopieren</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/page.py"/>
        <source>Hide</source>
        <translation>Verbergen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/page.py"/>
        <source>Key</source>
        <translation>Schlüssel</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/page.py"/>
        <source>Made when the switch is on</source>
        <translation>Entsteht, sobald der Schalter an ist</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/page.py"/>
        <source>Programs that know this key are refused from then on</source>
        <translation>Programme mit diesem Schlüssel werden danach abgewiesen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/page.py"/>
        <source>Renew</source>
        <translation>Erneuern</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/page.py"/>
        <source>Show</source>
        <translation>Zeigen</translation>
    </message>
</context>
<context>
    <name>LayersBar</name>
    <message>
        <location filename="../../app/paceline/gui/models/picker/layers_bar.py"/>
        <source>{}: layers on {}</source>
        <translation>{}: Schichten auf {}</translation>
    </message>
</context>
<context>
    <name>LearningController</name>
    <message>
        <location filename="../../app/paceline/gui/speculation/learning.py"/>
        <source>Drafts are now also looked up in your stored chats, for faster replies. Private chats are left out, and nothing leaves this computer.</source>
        <translation>Entwürfe werden jetzt auch in Ihren gespeicherten Chats nachgeschlagen, für schnellere Antworten. Private Chats bleiben außen vor, und nichts verlässt diesen Rechner.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/learning.py"/>
        <source>Switch off</source>
        <translation>Ausschalten</translation>
    </message>
</context>
<context>
    <name>Library</name>
    <message>
        <location filename="../../app/paceline/gui/models/lists/offers.py"/>
        <source>Built in</source>
        <translation>Eingebaut</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/offers.py"/>
        <source>Folder</source>
        <translation>Ordner</translation>
    </message>
</context>
<context>
    <name>LibraryController</name>
    <message>
        <location filename="../../app/paceline/gui/models/lists/library.py"/>
        <source>Delete it in the file manager; it is in {}.</source>
        <translation>Löschen Sie es in der Dateiverwaltung; es liegt in {}.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/library.py"/>
        <source>Delete this model?</source>
        <translation>Dieses Modell löschen?</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/library.py"/>
        <source>Load another model, then delete it.</source>
        <translation>Laden Sie ein anderes Modell, dann löschen Sie dieses.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/library.py"/>
        <source>Move to trash</source>
        <translation>In den Papierkorb</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/library.py"/>
        <source>No file manager could be opened.</source>
        <translation>Es ließ sich keine Dateiverwaltung öffnen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/library.py"/>
        <source>The file is {}.</source>
        <translation>Die Datei ist {}.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/library.py"/>
        <source>“{}” ({}) is moved to the trash.</source>
        <translation>„{}“ ({}) kommt in den Papierkorb.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/library.py"/>
        <source>“{}” cannot be moved to the trash: {}.</source>
        <translation>„{}“ lässt sich nicht in den Papierkorb legen: {}.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/library.py"/>
        <source>“{}” cannot be used: {}</source>
        <translation>„{}“ lässt sich nicht verwenden: {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/library.py"/>
        <source>“{}” is loaded now.</source>
        <translation>„{}“ ist gerade geladen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/library.py"/>
        <source>“{}” is not there any more.</source>
        <translation>„{}“ ist nicht mehr da.</translation>
    </message>
</context>
<context>
    <name>LicencesPage</name>
    <message>
        <location filename="../../app/paceline/gui/help/about.py"/>
        <source>Text of the licence</source>
        <translation>Text der Lizenz</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/about.py"/>
        <source>The libraries under the LGPL, such as Qt, are files of their own in {}: a build of yours, of the same version, can take the place of each.</source>
        <translation>Die Bibliotheken unter der LGPL, etwa Qt, liegen als eigene Dateien in {}: An die Stelle jeder kann eine selbst gebaute derselben Version treten.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/about.py"/>
        <source>The text did not come along with this installation.</source>
        <translation>Der Text kam mit dieser Installation nicht mit.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/about.py"/>
        <source>What is shipped</source>
        <translation>Was mitgeliefert wird</translation>
    </message>
</context>
<context>
    <name>Links</name>
    <message>
        <location filename="../../app/paceline/gui/chat/links.py"/>
        <source>The address begins with a user name. It leads to {host}.</source>
        <translation>Die Adresse beginnt mit einem Benutzernamen. Sie führt zu {host}.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/links.py"/>
        <source>The host is written {name}.</source>
        <translation>Der Rechner schreibt sich {name}.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/links.py"/>
        <source>The host is written {name}: it mixes letters of several alphabets, as addresses do that imitate others.</source>
        <translation>Der Rechner schreibt sich {name}: Er mischt Buchstaben mehrerer Alphabete, wie es Adressen tun, die andere nachahmen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/links.py"/>
        <source>The host is written {name}: some of its letters may look like others.</source>
        <translation>Der Rechner schreibt sich {name}: Manche seiner Buchstaben sehen vielleicht aus wie andere.</translation>
    </message>
</context>
<context>
    <name>LoadChecks</name>
    <message>
        <location filename="../../app/paceline/gui/models/load_checks.py"/>
        <source>Check that it is there and that you may read it.</source>
        <translation>Prüfen Sie, ob sie da ist und Sie sie lesen dürfen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/load_checks.py"/>
        <source>Choose a file that ends in .gguf; other formats must be converted first.</source>
        <translation>Wählen Sie eine Datei, die auf .gguf endet; andere Formate müssen erst umgewandelt werden.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/load_checks.py"/>
        <source>Draft on the processor</source>
        <translation>Entwurf auf dem Prozessor</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/load_checks.py"/>
        <source>Keep no more than the windows</source>
        <translation>Nur die Fenster behalten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/load_checks.py"/>
        <source>Quantise the draft's cache</source>
        <translation>Cache des Entwurfs quantisieren</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/load_checks.py"/>
        <source>Shorten the draft's context</source>
        <translation>Kontext des Entwurfs verkürzen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/load_checks.py"/>
        <source>Use lookups, no draft model</source>
        <translation>Nachschlagen verwenden, kein Entwurfsmodell</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/load_checks.py"/>
        <source>Use lookups, no {}</source>
        <translation>Nachschlagen verwenden, kein {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/load_checks.py"/>
        <source>“{}” cannot be read: {}.</source>
        <translation>„{}“ lässt sich nicht lesen: {}.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/load_checks.py"/>
        <source>“{}” is not a GGUF model file.</source>
        <translation>„{}“ ist keine GGUF-Modelldatei.</translation>
    </message>
</context>
<context>
    <name>LoadFailures</name>
    <message>
        <location filename="../../app/paceline/gui/models/load_failures.py"/>
        <source>Choose a draft model…</source>
        <translation>Entwurfsmodell wählen …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/load_failures.py"/>
        <source>Load again</source>
        <translation>Noch einmal laden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/load_failures.py"/>
        <source>Load the model alone</source>
        <translation>Nur das Modell laden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/load_failures.py"/>
        <source>Load with {} tokens</source>
        <translation>Mit {} Token laden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/load_failures.py"/>
        <source>Load without lost servers</source>
        <translation>Ohne verlorene Server laden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/load_failures.py"/>
        <source>Load without {}</source>
        <translation>Ohne {} laden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/load_failures.py"/>
        <source>Take {} instead</source>
        <translation>Stattdessen {} nehmen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/load_failures.py"/>
        <source>The models from before are loaded again.</source>
        <translation>Die Modelle von vorher werden wieder geladen.</translation>
    </message>
</context>
<context>
    <name>LoadForm</name>
    <message>
        <location filename="../../app/paceline/gui/models/picker/load_form.py"/>
        <source>A file of token statistics from texts of yours, for the strategies ngram-cache and Auto; “paceline cache build” makes one.</source>
        <translation>Eine Datei mit Token-Statistik aus eigenen Texten, für die Strategien ngram-cache und Auto; „paceline cache build“ erzeugt eine.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/load_form.py"/>
        <source>A model is put on one device, so there is nothing to split.</source>
        <translation>Ein Modell liegt auf einem Gerät, also gibt es nichts aufzuteilen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/load_form.py"/>
        <source>Advanced</source>
        <translation>Erweitert</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/load_form.py"/>
        <source>Draft</source>
        <translation>Entwerfer</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/load_form.py"/>
        <source>Draft context</source>
        <translation>Entwurfskontext</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/load_form.py"/>
        <source>Draft model: {}</source>
        <translation>Entwurfsmodell: {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/load_form.py"/>
        <source>Everything runs on the processor: llama.cpp finds no GPU here that it can use.</source>
        <translation>Alles läuft auf dem Prozessor: llama.cpp findet hier keine GPU, die es nutzen kann.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/load_form.py"/>
        <source>Exact: same text in every case</source>
        <translation>Exakt: in jedem Fall derselbe Text</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/load_form.py"/>
        <source>Loading</source>
        <translation>Laden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/load_form.py"/>
        <source>Lookup cache</source>
        <translation>Nachschlage-Cache</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/load_form.py"/>
        <source>Lookup caches (*.bin);;All files (*)</source>
        <translation>Nachschlage-Caches (*.bin);;Alle Dateien (*)</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/load_form.py"/>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/load_form.py"/>
        <source>The same text with any strategy and whatever was in the context before, on this machine. Where Paceline's own kernels compute, that is so anyway. Elsewhere prompts are prefilled in fixed pieces, and where narrow batches are computed in another way, single tokens are decoded in wider ones, which costs speed; a note says how much after loading.</source>
        <translation>Derselbe Text mit jeder Strategie und gleich, was vorher im Kontext war, auf diesem Rechner. Wo die Kernel von Paceline rechnen, ist das ohnehin so. Sonst werden Prompts in festen Stücken eingelesen, und wo schmale Batches anders gerechnet werden, werden einzelne Token in breiteren dekodiert, was Tempo kostet; ein Hinweis sagt nach dem Laden, wie viel.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/load_form.py"/>
        <source>Tokens that the draft model keeps; same: as many</source>
        <translation>Token, die das Entwurfsmodell behält; gleich: ebenso viele</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/load_form.py"/>
        <source>same</source>
        <translation>gleich</translation>
    </message>
</context>
<context>
    <name>LongerContext</name>
    <message>
        <location filename="../../app/paceline/gui/chat/composer_controllers.py"/>
        <source>Load with {} context</source>
        <translation>Mit {} Kontext laden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/composer_controllers.py"/>
        <source>Memory has no room for a longer one.</source>
        <translation>Für einen längeren reicht der Speicher nicht.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/composer_controllers.py"/>
        <source>Shorten it, attach less, or start a new chat.</source>
        <translation>Kürzen Sie die Nachricht, hängen Sie weniger an, oder beginnen Sie einen neuen Chat.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/composer_controllers.py"/>
        <source>The model was trained for no more.</source>
        <translation>Für mehr ist das Modell nicht trainiert.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/composer_controllers.py"/>
        <source>Too long for the context.</source>
        <translation>Zu lang für den Kontext.</translation>
    </message>
</context>
<context>
    <name>LooksPage</name>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Appearance</source>
        <translation>Erscheinungsbild</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>As wide as the window</source>
        <translation>So breit wie das Fenster</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Colours</source>
        <translation>Farben</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Comfortable</source>
        <translation>Bequem</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Compact</source>
        <translation>Kompakt</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Compact: less room between messages and in the list of chats.</source>
        <translation>Kompakt: weniger Platz zwischen Nachrichten und in der Liste der Chats.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Density</source>
        <translation>Dichte</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Everything grows with it. Keys: Ctrl + plus, Ctrl + minus, Ctrl + 0.</source>
        <translation>Alles wächst mit. Tasten: Strg + Plus, Strg + Minus, Strg + 0.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Full</source>
        <translation>Voll</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Like the desktop</source>
        <translation>Wie der Desktop</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Motion</source>
        <translation>Bewegung</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Movement</source>
        <translation>Bewegung</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Narrow</source>
        <translation>Schmal</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Normal</source>
        <translation>Normal</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Of the messages, and of the field for the next one.</source>
        <translation>Gilt für die Nachrichten und das Eingabefeld.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Reduced</source>
        <translation>Verringert</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Reduced: the view jumps instead of gliding, and nothing fades or blinks.</source>
        <translation>Verringert: Die Ansicht springt, statt zu gleiten, und nichts blendet oder blinkt.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Replies show where each token came from: the draft model, a lookup, or the model itself.</source>
        <translation>Antworten zeigen, woher jedes Token kam: vom Entwurfsmodell, vom Nachschlagen oder vom Modell selbst.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Room</source>
        <translation>Platz</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Text</source>
        <translation>Text</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Text size</source>
        <translation>Schriftgröße</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Theme</source>
        <translation>Farben</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Token colours</source>
        <translation>Token-Farben</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Width of a chat</source>
        <translation>Breite eines Chats</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>animation</source>
        <translation>animation bewegung</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>column line</source>
        <translation>spalte zeile</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>font</source>
        <translation>schrift</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>light dark mode</source>
        <translation>hell dunkel modus</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>spacing</source>
        <translation>abstand</translation>
    </message>
</context>
<context>
    <name>MachinesPage</name>
    <message>
        <location filename="../../app/paceline/gui/machines/page.py"/>
        <source>Computers that lend their devices</source>
        <translation>Computer, die ihre Geräte verleihen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/machines/page.py"/>
        <source>How to lend a computer's devices</source>
        <translation>So verleiht ein Computer seine Geräte</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/machines/page.py"/>
        <source>Layers of models can lie in the memory of these computers and are computed there. A model then needs all computers that are ticked. Whenever a tick changes, the models are loaded again.</source>
        <translation>Schichten von Modellen können im Speicher dieser Computer liegen und werden dort berechnet. Ein Modell braucht dann alle Computer, die angekreuzt sind. Ändert sich ein Häkchen, werden die Modelle neu geladen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/machines/page.py"/>
        <source>More in the guide</source>
        <translation>Mehr im Handbuch</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/machines/page.py"/>
        <source>More than one machine</source>
        <translation>Mehr als ein Rechner</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/machines/page.py"/>
        <source>On that computer, where Paceline of the same version is installed. It says where it listens; no models are needed there.</source>
        <translation>Auf jenem Computer, auf dem Paceline in derselben Version installiert ist. Der Befehl nennt die Adresse; Modelle werden dort nicht gebraucht.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/machines/page.py"/>
        <source>On this computer, for a connection that asks for your key and is encrypted. It has to stay open.</source>
        <translation>Auf diesem Computer, für eine Verbindung, die Ihren Schlüssel verlangt und verschlüsselt ist. Sie muss offen bleiben.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/machines/page.py"/>
        <source>Other computers</source>
        <translation>Andere Computer</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/machines/page.py"/>
        <source>RPC servers</source>
        <translation>RPC-Server</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/machines/page.py"/>
        <source>RPC servers know no key and no encryption: all who reach the port can read what is computed, your prompts among it, and can crash or misuse the program.</source>
        <translation>RPC-Server kennen weder Schlüssel noch Verschlüsselung: Alle, die den Port erreichen, können mitlesen, was berechnet wird, auch Ihre Prompts, und können das Programm abstürzen lassen oder missbrauchen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/machines/page.py"/>
        <source>Then add {} above.</source>
        <translation>Fügen Sie dann oben {} hinzu.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/machines/page.py"/>
        <source>security encryption key</source>
        <translation>Sicherheit Verschlüsselung Schlüssel</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/machines/page.py"/>
        <source>{} is used without a tunnel, so this holds for its whole network.</source>
        <translation>{} wird ohne Tunnel benutzt, also gilt das für das ganze Netz.</translation>
    </message>
</context>
<context>
    <name>MemoryBar</name>
    <message>
        <location filename="../../app/paceline/gui/models/picker/memory_card.py"/>
        <source>Buffers for computing</source>
        <translation>Puffer zum Rechnen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/memory_card.py"/>
        <source>Drafter</source>
        <translation>Entwerfer</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/memory_card.py"/>
        <source>Drafter's cache</source>
        <translation>Cache des Entwerfers</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/memory_card.py"/>
        <source>Earlier states, to take drafts back</source>
        <translation>Frühere Zustände, um Entwürfe zurückzunehmen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/memory_card.py"/>
        <source>Its cache</source>
        <translation>Sein Cache</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/memory_card.py"/>
        <source>Kept free</source>
        <translation>Frei gehalten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/memory_card.py"/>
        <source>Loaded now: {} found, {} expected</source>
        <translation>Jetzt geladen: {} gefunden, {} erwartet</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/memory_card.py"/>
        <source>Memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/memory_card.py"/>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/memory_card.py"/>
        <source>More than its sliding windows</source>
        <translation>Mehr als seine gleitenden Fenster</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/memory_card.py"/>
        <source>Prompt cache, up to</source>
        <translation>Prompt-Cache, bis zu</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/memory_card.py"/>
        <source>{} has {}; {} can be had now.</source>
        <translation>{} hat {}; {} sind jetzt zu haben.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/memory_card.py"/>
        <source>{} of {}</source>
        <translation>{} von {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/memory_card.py"/>
        <source>{} too much</source>
        <translation>{} zu viel</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/memory_card.py"/>
        <source>{}, with {}</source>
        <translation>{}, mit {}</translation>
    </message>
</context>
<context>
    <name>MemoryCard</name>
    <message>
        <location filename="../../app/paceline/gui/models/picker/memory_card.py"/>
        <source>Details</source>
        <translation>Einzelheiten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/memory_card.py"/>
        <source>Estimated from the headers.</source>
        <translation>Aus den Köpfen der Dateien geschätzt.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/memory_card.py"/>
        <source>Memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/memory_card.py"/>
        <source>What would help:</source>
        <translation>Was helfen würde:</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/memory_card.py"/>
        <source>Working it out…</source>
        <translation>Wird ausgerechnet …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/memory_card.py"/>
        <source>does not fit</source>
        <translation>passt nicht</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/memory_card.py"/>
        <source>fits</source>
        <translation>passt</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/memory_card.py"/>
        <source>not known</source>
        <translation>nicht bekannt</translation>
    </message>
</context>
<context>
    <name>MessageActions</name>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_actions.py"/>
        <source>Answer</source>
        <translation>Beantworten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_actions.py"/>
        <source>Answer twice, without and with drafts, side by side</source>
        <translation>Zweimal antworten, ohne und mit Entwürfen, nebeneinander</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_actions.py"/>
        <source>Branch</source>
        <translation>Verzweigen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_actions.py"/>
        <source>Change the text of this reply</source>
        <translation>Den Text dieser Antwort ändern</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_actions.py"/>
        <source>Compare…</source>
        <translation>Vergleichen …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_actions.py"/>
        <source>Continue</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_actions.py"/>
        <source>Copied</source>
        <translation>Kopiert</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_actions.py"/>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_actions.py"/>
        <source>Copy as Markdown</source>
        <translation>Als Markdown kopieren</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_actions.py"/>
        <source>Copy as plain text</source>
        <translation>Als einfachen Text kopieren</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_actions.py"/>
        <source>Copy as…</source>
        <translation>Kopieren als …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_actions.py"/>
        <source>Copy the message</source>
        <translation>Nachricht kopieren</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_actions.py"/>
        <source>Copy the reply</source>
        <translation>Antwort kopieren</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_actions.py"/>
        <source>Delete</source>
        <translation>Löschen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_actions.py"/>
        <source>Delete this message and what follows it</source>
        <translation>Diese Nachricht und alles, was ihr folgt, löschen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_actions.py"/>
        <source>Details</source>
        <translation>Einzelheiten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_actions.py"/>
        <source>Edit</source>
        <translation>Bearbeiten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_actions.py"/>
        <source>Edit this message and send it again</source>
        <translation>Diese Nachricht bearbeiten und noch einmal senden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_actions.py"/>
        <source>Generate a reply to this message</source>
        <translation>Eine Antwort auf diese Nachricht erzeugen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_actions.py"/>
        <source>Generate this reply again</source>
        <translation>Diese Antwort noch einmal erzeugen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_actions.py"/>
        <source>Go on from here in a chat of its own</source>
        <translation>Von hier in einem eigenen Chat weitermachen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_actions.py"/>
        <source>Let the model write on from where this reply ends</source>
        <translation>Das Modell vom Ende dieser Antwort an weiterschreiben lassen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_actions.py"/>
        <source>Regenerate</source>
        <translation>Neu erzeugen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_actions.py"/>
        <source>Show how this reply was made</source>
        <translation>Zeigen, wie diese Antwort entstand</translation>
    </message>
</context>
<context>
    <name>MessageEdit</name>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_item.py"/>
        <source>A reply is being written; stop it first.</source>
        <translation>Gerade wird eine Antwort geschrieben; halten Sie sie erst an.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_item.py"/>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_item.py"/>
        <source>Edit the message</source>
        <translation>Nachricht bearbeiten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_item.py"/>
        <source>Keep</source>
        <translation>Behalten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_item.py"/>
        <source>Keep it as a new version (Ctrl+Enter)</source>
        <translation>Als neue Fassung behalten (Strg+Eingabe)</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_item.py"/>
        <source>Keep the edited reply</source>
        <translation>Die geänderte Antwort behalten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_item.py"/>
        <source>Keep the message as it was (Esc)</source>
        <translation>Die Nachricht lassen, wie sie war (Esc)</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_item.py"/>
        <source>Keep what need not change</source>
        <translation>Behalten, was bleiben kann</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_item.py"/>
        <source>Send</source>
        <translation>Senden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_item.py"/>
        <source>Send it again as a new version</source>
        <translation>Als neue Fassung noch einmal senden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_item.py"/>
        <source>Send the edited message</source>
        <translation>Bearbeitete Nachricht senden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_item.py"/>
        <source>The new reply has the seed of the old one, and differs where it has to</source>
        <translation>Die neue Antwort hat den Seed der alten und weicht ab, wo sie muss</translation>
    </message>
</context>
<context>
    <name>MessageItem</name>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_item.py"/>
        <source>Copy selection</source>
        <translation>Auswahl kopieren</translation>
    </message>
</context>
<context>
    <name>MessageView</name>
    <message>
        <location filename="../../app/paceline/gui/chat/markdown/view.py"/>
        <source>Formulas, in their order: {}</source>
        <translation>Formeln, der Reihe nach: {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/markdown/view.py"/>
        <source>Image not loaded</source>
        <translation>Bild nicht geladen</translation>
    </message>
</context>
<context>
    <name>ModelBar</name>
    <message>
        <location filename="../../app/paceline/gui/models/model_bar.py"/>
        <source>Choose the models</source>
        <translation>Modelle wählen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/model_bar.py"/>
        <source>No model</source>
        <translation>Kein Modell</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/model_bar.py"/>
        <source>drafted by</source>
        <translation>entworfen von</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/model_bar.py"/>
        <source>engine ended</source>
        <translation>Engine beendet</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/model_bar.py"/>
        <source>loading the draft model {:.0f} %</source>
        <translation>lädt das Entwurfsmodell {:.0f} %</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/model_bar.py"/>
        <source>loading {:.0f} %</source>
        <translation>lädt {:.0f} %</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/model_bar.py"/>
        <source>not loaded</source>
        <translation>nicht geladen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/model_bar.py"/>
        <source>ready</source>
        <translation>bereit</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/model_bar.py"/>
        <source>restarting {:.0f} %</source>
        <translation>startet neu {:.0f} %</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/model_bar.py"/>
        <source>see note</source>
        <translation>siehe Hinweis</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/model_bar.py"/>
        <source>waits for the reply</source>
        <translation>wartet auf die Antwort</translation>
    </message>
</context>
<context>
    <name>ModelFactsCard</name>
    <message>
        <location filename="../../app/paceline/gui/run/cards.py"/>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/cards.py"/>
        <source>Compute SHA-256</source>
        <translation>SHA-256 berechnen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/cards.py"/>
        <source>Reading the file</source>
        <translation>Datei wird gelesen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/cards.py"/>
        <source>SHA-256</source>
        <translation>SHA-256</translation>
    </message>
</context>
<context>
    <name>ModelsController</name>
    <message>
        <location filename="../../app/paceline/gui/models/controller.py"/>
        <source>Choose models…</source>
        <translation>Modelle wählen …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/controller.py"/>
        <source>GGUF models (*.gguf);;All files (*)</source>
        <translation>GGUF-Modelle (*.gguf);;Alle Dateien (*)</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/controller.py"/>
        <source>Memory has room for a context of {} tokens only.</source>
        <translation>Im Speicher ist nur Platz für einen Kontext von {} Token.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/controller.py"/>
        <source>Models are looked for in “{}” from now on.</source>
        <translation>In „{}“ wird ab jetzt nach Modellen gesucht.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/controller.py"/>
        <source>Open a draft model</source>
        <translation>Entwurfsmodell öffnen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/controller.py"/>
        <source>Open a model</source>
        <translation>Modell öffnen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/controller.py"/>
        <source>The demo pair takes their place.</source>
        <translation>Das Demo-Paar tritt an ihre Stelle.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/controller.py"/>
        <source>The models that were used last are not there any more: {}.</source>
        <translation>Die zuletzt verwendeten Modelle sind nicht mehr da: {}.</translation>
    </message>
</context>
<context>
    <name>ModelsPage</name>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Automatic</source>
        <translation>Automatisch</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Besides the folders of Paceline, Ollama, LM Studio and the Hugging Face cache, which are found by themselves.</source>
        <translation>Außer den Ordnern von Paceline, Ollama, LM Studio und dem Cache von Hugging Face, die von selbst gefunden werden.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>CPU kernels</source>
        <translation>CPU-Kernel</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Engine</source>
        <translation>Engine</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Folders to look in</source>
        <translation>Ordner, in denen gesucht wird</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>In a process of its own a crash of llama.cpp costs one reply; in the window's process it ends the window. The models are loaded again.</source>
        <translation>In einem eigenen Prozess kostet ein Absturz von llama.cpp eine Antwort; im Prozess des Fensters beendet er das Fenster. Die Modelle werden neu geladen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Its own process</source>
        <translation>Eigener Prozess</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Loading, unless a model has settings of its own</source>
        <translation>Laden, wenn ein Modell keine eigenen Einstellungen hat</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Model files</source>
        <translation>Modelldateien</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Own</source>
        <translation>Eigene</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Paceline's own are faster with several tokens at once and give the same text with any drafts, as far as they have passed a test on this computer. Automatic takes them unless the variable PACELINE_KERNELS says otherwise. The models are loaded again.</source>
        <translation>Die von Paceline sind mit mehreren Token auf einmal schneller und geben mit jedem Entwurf denselben Text, soweit sie auf diesem Rechner einen Test bestanden haben. „Automatisch“ nimmt sie, wenn die Variable PACELINE_KERNELS nichts anderes sagt. Die Modelle werden neu geladen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>The engine runs in</source>
        <translation>Die Engine läuft in</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>The window's process</source>
        <translation>Prozess des Fensters</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>While other computers are used, it is a process of its own.</source>
        <translation>Solange andere Computer benutzt werden, ist es ein eigener Prozess.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>llama.cpp's</source>
        <translation>Die von llama.cpp</translation>
    </message>
</context>
<context>
    <name>NameDialog</name>
    <message>
        <location filename="../../app/paceline/gui/kit/dialogs.py"/>
        <source>Name</source>
        <translation>Name</translation>
    </message>
</context>
<context>
    <name>OfferCard</name>
    <message>
        <location filename="../../app/paceline/gui/welcome/options.py"/>
        <source>Load</source>
        <translation>Laden</translation>
    </message>
</context>
<context>
    <name>Offers</name>
    <message>
        <location filename="../../app/paceline/gui/models/lists/offers.py"/>
        <source>Copies from what was written before; needs no second model and no memory.</source>
        <translation>Kopiert aus dem, was zuvor geschrieben wurde; braucht kein zweites Modell und keinen Speicher.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/offers.py"/>
        <source>Drafter: {}</source>
        <translation>Entwirft: {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/offers.py"/>
        <source>For {}</source>
        <translation>Für {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/offers.py"/>
        <source>MTP head inside</source>
        <translation>MTP-Kopf in der Datei</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/offers.py"/>
        <source>No draft model</source>
        <translation>Kein Entwurfsmodell</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/offers.py"/>
        <source>No draft model: lookups only</source>
        <translation>Kein Entwurfsmodell: nur Nachschlagen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/offers.py"/>
        <source>Reported: {}</source>
        <translation>Berichtet: {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/offers.py"/>
        <source>Source: {}</source>
        <translation>Quelle: {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/offers.py"/>
        <source>The model's own last layers draft; that needs no second model.</source>
        <translation>Die letzten Schichten des Modells selbst entwerfen; das braucht kein zweites Modell.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/offers.py"/>
        <source>Vocabularies: {}</source>
        <translation>Vokabulare: {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/offers.py"/>
        <source>about {}</source>
        <translation>etwa {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/offers.py"/>
        <source>compared, they agree</source>
        <translation>verglichen, sie stimmen überein</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/offers.py"/>
        <source>compared, they differ</source>
        <translation>verglichen, sie weichen ab</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/offers.py"/>
        <source>drafted by {}</source>
        <translation>entworfen von {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/offers.py"/>
        <source>fits the memory</source>
        <translation>passt in den Speicher</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/offers.py"/>
        <source>for a GPU</source>
        <translation>für eine GPU</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/offers.py"/>
        <source>gated</source>
        <translation>beschränkt</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/offers.py"/>
        <source>more than the free memory</source>
        <translation>mehr als der freie Speicher</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/offers.py"/>
        <source>must be asked for</source>
        <translation>muss erbeten werden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/offers.py"/>
        <source>needs more memory</source>
        <translation>braucht mehr Speicher</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/offers.py"/>
        <source>not looked into yet</source>
        <translation>noch nicht angesehen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/offers.py"/>
        <source>recommended</source>
        <translation>empfohlen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/offers.py"/>
        <source>{} downloads</source>
        <translation>{} Downloads</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/offers.py"/>
        <source>{} parameters</source>
        <translation>{} Parameter</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/offers.py"/>
        <source>{} parts</source>
        <translation>{} Teile</translation>
    </message>
</context>
<context>
    <name>Outcome</name>
    <message>
        <location filename="../../app/paceline/gui/compare/outcome.py"/>
        <source>the same text</source>
        <translation>derselbe Text</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/compare/outcome.py"/>
        <source>the same text as far as both go</source>
        <translation>derselbe Text, so weit beide reichen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/compare/outcome.py"/>
        <source>the same text in other tokens</source>
        <translation>derselbe Text, aus anderen Token</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/compare/outcome.py"/>
        <source>the texts differ from word {} on</source>
        <translation>die Texte unterscheiden sich ab Wort {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/compare/outcome.py"/>
        <source>too short to compare speeds</source>
        <translation>zu kurz, um das Tempo zu vergleichen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/compare/outcome.py"/>
        <source>{} as fast</source>
        <translation>{} so schnell</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/compare/outcome.py"/>
        <source>{} as many tokens per second</source>
        <translation>{} so viele Token pro Sekunde</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/compare/outcome.py"/>
        <source>≈ 1× as fast</source>
        <translation>≈ 1× so schnell</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/compare/outcome.py"/>
        <source>≈ 1× as fast (busy machine)</source>
        <translation>≈ 1× so schnell (Rechner beschäftigt)</translation>
    </message>
</context>
<context>
    <name>PairFetcher</name>
    <message>
        <location filename="../../app/paceline/gui/models/downloads/controller.py"/>
        <source>Load pair</source>
        <translation>Paar laden</translation>
    </message>
</context>
<context>
    <name>PairPane</name>
    <message>
        <location filename="../../app/paceline/gui/models/picker/pair_pane.py"/>
        <source>MTP head inside</source>
        <translation>MTP-Kopf in der Datei</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/pair_pane.py"/>
        <source>Take {}.</source>
        <translation>{} nehmen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/pair_pane.py"/>
        <source>Use lookups.</source>
        <translation>Nachschlagen verwenden.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/pair_pane.py"/>
        <source>none</source>
        <translation>keines</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/pair_pane.py"/>
        <source>not chosen yet</source>
        <translation>noch nicht gewählt</translation>
    </message>
</context>
<context>
    <name>PairsMenu</name>
    <message>
        <location filename="../../app/paceline/gui/models/model_bar.py"/>
        <source>All of them</source>
        <translation>Alle</translation>
    </message>
</context>
<context>
    <name>PaletteSheet</name>
    <message>
        <location filename="../../app/paceline/gui/help/palette.py"/>
        <source>Commands</source>
        <translation>Befehle</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/palette.py"/>
        <source>Commands that were found</source>
        <translation>Gefundene Befehle</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/palette.py"/>
        <source>Find a command, chat, strategy or pair</source>
        <translation>Befehl, Chat, Strategie oder Paar suchen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/palette.py"/>
        <source>Nothing is called like this.</source>
        <translation>So heißt nichts.</translation>
    </message>
</context>
<context>
    <name>PanelController</name>
    <message>
        <location filename="../../app/paceline/gui/panel.py"/>
        <source>A stop string ended it: leave that out.</source>
        <translation>Ein Stopptext beendete sie: Lassen Sie ihn weg.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/panel.py"/>
        <source>Allow more than {} tokens.</source>
        <translation>Erlauben Sie mehr als {} Token.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/panel.py"/>
        <source>Chat template…</source>
        <translation>Chat-Vorlage …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/panel.py"/>
        <source>Choose models…</source>
        <translation>Modelle wählen …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/panel.py"/>
        <source>It is being started again, and your message is answered then.</source>
        <translation>Sie wird neu gestartet, und dann wird Ihre Nachricht beantwortet.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/panel.py"/>
        <source>Load the models with a longer context.</source>
        <translation>Laden Sie die Modelle mit längerem Kontext.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/panel.py"/>
        <source>Not for this reply: {}</source>
        <translation>Nicht für diese Antwort: {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/panel.py"/>
        <source>Start it again</source>
        <translation>Neu starten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/panel.py"/>
        <source>The reply is no complete JSON: it ended before the schema did.</source>
        <translation>Die Antwort ist kein vollständiges JSON: Sie endete vor dem Schema.</translation>
    </message>
</context>
<context>
    <name>ParameterField</name>
    <message>
        <location filename="../../app/paceline/gui/speculation/draft_settings.py"/>
        <source>Auto decides at every step how many tokens are drafted, by what steps cost here and by how many are right ({}=auto)</source>
        <translation>Auto entscheidet in jedem Schritt, wie viele Token entworfen werden: danach, was Schritte hier kosten und wie viele richtig sind ({}=auto)</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/draft_settings.py"/>
        <source>Automatic: as long as it pays</source>
        <translation>Automatisch: solange es sich lohnt</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/draft_settings.py"/>
        <source>{}: automatic</source>
        <translation>{}: automatisch</translation>
    </message>
</context>
<context>
    <name>PickerController</name>
    <message>
        <location filename="../../app/paceline/gui/models/picker/controller.py"/>
        <source>Add a folder with models</source>
        <translation>Ordner mit Modellen hinzufügen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/controller.py"/>
        <source>Drop one model at a time, for the step shown.</source>
        <translation>Legen Sie ein Modell nach dem anderen ab, für den gezeigten Schritt.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/controller.py"/>
        <source>GGUF models (*.gguf);;All files (*)</source>
        <translation>GGUF-Modelle (*.gguf);;Alle Dateien (*)</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/controller.py"/>
        <source>Open a model</source>
        <translation>Modell öffnen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/controller.py"/>
        <source>The pair that you picked is downloaded.</source>
        <translation>Das Paar, das Sie gewählt haben, ist heruntergeladen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/controller.py"/>
        <source>This may not fit into the memory.</source>
        <translation>Das passt vielleicht nicht in den Speicher.</translation>
    </message>
</context>
<context>
    <name>PickerDialog</name>
    <message>
        <location filename="../../app/paceline/gui/models/picker/dialog.py"/>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/dialog.py"/>
        <source>Choose models</source>
        <translation>Modelle wählen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/dialog.py"/>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/dialog.py"/>
        <source>Go online</source>
        <translation>Online gehen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/dialog.py"/>
        <source>Hugging Face</source>
        <translation>Hugging Face</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/dialog.py"/>
        <source>Hugging Face cannot be reached.</source>
        <translation>Hugging Face ist nicht erreichbar.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/dialog.py"/>
        <source>Installed</source>
        <translation>Installiert</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/dialog.py"/>
        <source>Offline mode is on.</source>
        <translation>Der Offline-Modus ist an.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/dialog.py"/>
        <source>Recommended</source>
        <translation>Empfohlen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/dialog.py"/>
        <source>Try again</source>
        <translation>Noch einmal</translation>
    </message>
</context>
<context>
    <name>PlaceRow</name>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Open folder</source>
        <translation>Ordner öffnen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Open folder: {}</source>
        <translation>Ordner öffnen: {}</translation>
    </message>
</context>
<context>
    <name>PlotTools</name>
    <message>
        <location filename="../../app/paceline/gui/plot/speed_plot.py"/>
        <source>Export CSV…</source>
        <translation>CSV exportieren …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/plot/speed_plot.py"/>
        <source>Export PNG…</source>
        <translation>PNG exportieren …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/plot/speed_plot.py"/>
        <source>Go on</source>
        <translation>Weiter</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/plot/speed_plot.py"/>
        <source>Hold the plot</source>
        <translation>Grafik festhalten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/plot/speed_plot.py"/>
        <source>Last {} steps</source>
        <translation>Letzte {} Schritte</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/plot/speed_plot.py"/>
        <source>More of this plot</source>
        <translation>Mehr zu dieser Grafik</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/plot/speed_plot.py"/>
        <source>Reset the view</source>
        <translation>Ansicht zurücksetzen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/plot/speed_plot.py"/>
        <source>Steps that are shown</source>
        <translation>Gezeigte Schritte</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/plot/speed_plot.py"/>
        <source>Whole reply</source>
        <translation>Ganze Antwort</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/plot/speed_plot.py"/>
        <source>Zoom in</source>
        <translation>Vergrößern</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/plot/speed_plot.py"/>
        <source>Zoom out</source>
        <translation>Verkleinern</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/plot/speed_plot.py"/>
        <source>all</source>
        <translation>alle</translation>
    </message>
</context>
<context>
    <name>PlotWords</name>
    <message>
        <location filename="../../app/paceline/gui/plot/plot_words.py"/>
        <source>, {} never judged</source>
        <translation>, {} nie geprüft</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/plot/plot_words.py"/>
        <source>Draft model</source>
        <translation>Entwurfsmodell</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/plot/plot_words.py"/>
        <source>Lookup</source>
        <translation>Nachschlagen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/plot/plot_words.py"/>
        <source>Nothing was drafted</source>
        <translation>Nichts wurde entworfen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/plot/plot_words.py"/>
        <source>Step {}, tokens committed: {}</source>
        <translation>Schritt {}, übernommene Token: {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/plot/plot_words.py"/>
        <source>Steps {} to {}</source>
        <translation>Schritte {} bis {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/plot/plot_words.py"/>
        <source>Wrong guesses</source>
        <translation>Falsch</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/plot/plot_words.py"/>
        <source>{:.1f} of {:.1f} guesses per step were right</source>
        <translation>{:.1f} von {:.1f} Vermutungen je Schritt waren richtig</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/plot/plot_words.py"/>
        <source>{} as fast as alone</source>
        <translation>{} so schnell wie allein</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/plot/plot_words.py"/>
        <source>{} tokens per second</source>
        <translation>{} Token pro Sekunde</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/plot/plot_words.py"/>
        <source>{}: {} of {} guesses were right</source>
        <translation>{}: {} von {} Vermutungen waren richtig</translation>
    </message>
</context>
<context>
    <name>PresetButton</name>
    <message>
        <location filename="../../app/paceline/gui/sampling/presets.py"/>
        <source>How replies are drawn: temperature, length, stop strings, prompt.</source>
        <translation>Wie Antworten gezogen werden: Temperatur, Länge, Stopptexte, Prompt.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/presets.py"/>
        <source>Preset of replies: {}</source>
        <translation>Vorgabe für Antworten: {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/presets.py"/>
        <source>Preset: {}</source>
        <translation>Vorgabe: {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/presets.py"/>
        <source>{}
• Other values are set than those of “{}”.</source>
        <translation>{}
• Es sind andere Werte eingestellt als die von „{}“.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/presets.py"/>
        <source>{}, changed</source>
        <translation>{}, geändert</translation>
    </message>
</context>
<context>
    <name>PresetList</name>
    <message>
        <location filename="../../app/paceline/gui/state/presets.py"/>
        <source>Give the preset a name.</source>
        <translation>Geben Sie der Vorgabe einen Namen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/presets.py"/>
        <source>There is a preset of this name.</source>
        <translation>Eine Vorgabe dieses Namens gibt es schon.</translation>
    </message>
</context>
<context>
    <name>PresetNamer</name>
    <message>
        <location filename="../../app/paceline/gui/state/presets.py"/>
        <source>Rename</source>
        <translation>Umbenennen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/presets.py"/>
        <source>Rename the preset</source>
        <translation>Vorgabe umbenennen</translation>
    </message>
</context>
<context>
    <name>PrivacyPage</name>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Drafts are also looked up in your stored chats, for faster replies. Private chats are left out, and deleted ones from the moment that they are deleted.</source>
        <translation>Entwürfe werden auch in Ihren gespeicherten Chats nachgeschlagen, für schnellere Antworten. Private Chats bleiben außen vor, gelöschte vom Augenblick des Löschens an.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Learn across chats</source>
        <translation>Über Chats hinweg lernen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Learn from at most</source>
        <translation>Lernen aus höchstens</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Learning</source>
        <translation>Lernen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>No file manager could be opened. The folder is {}.</source>
        <translation>Es ließ sich keine Dateiverwaltung öffnen. Der Ordner ist {}.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Nothing but requests to the Hugging Face Hub, and only when you search there, look at a repository or download a model. They name the repository and the file. Chats, replies, settings and statistics are never sent anywhere; there is no telemetry and no check for updates.</source>
        <translation>Nur Anfragen an den Hugging Face Hub, und nur, wenn Sie dort suchen, ein Repository ansehen oder ein Modell herunterladen. Sie nennen Repository und Datei. Chats, Antworten, Einstellungen und Statistik werden nirgendwohin gesendet; es gibt keine Telemetrie und keine Suche nach Updates.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Privacy</source>
        <translation>Privatsphäre</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>The newest chats count. A megabyte takes four of memory, and a second or two of idle time after each load.</source>
        <translation>Die neuesten Chats zählen. Ein Megabyte braucht vier im Speicher, und nach jedem Laden ein bis zwei Sekunden, in denen sonst nichts zu tun ist.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>What leaves this computer</source>
        <translation>Was diesen Rechner verlässt</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Where your files are</source>
        <translation>Wo Ihre Dateien liegen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>folder</source>
        <translation>Ordner</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>{} MB of text</source>
        <translation>{} MB Text</translation>
    </message>
</context>
<context>
    <name>Program</name>
    <message>
        <location filename="../../app/paceline/gui/program.py"/>
        <source>Other programs are not served.</source>
        <translation>Andere Programme werden nicht bedient.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/program.py"/>
        <source>The old file is kept as {}.</source>
        <translation>Die alte Datei bleibt als {} erhalten.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/program.py"/>
        <source>The saved strategy “{}” cannot be used here.</source>
        <translation>Die gespeicherte Strategie „{}“ lässt sich hier nicht verwenden.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/program.py"/>
        <source>The settings could not be read, so the defaults are used.</source>
        <translation>Die Einstellungen ließen sich nicht lesen, daher gelten die Vorgaben.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/program.py"/>
        <source>“{}” takes its place.</source>
        <translation>„{}“ tritt an ihre Stelle.</translation>
    </message>
</context>
<context>
    <name>ProgramsPage</name>
    <message>
        <location filename="../../app/paceline/gui/serving/page.py"/>
        <source>Draft for them from your chats, too</source>
        <translation>Für sie auch aus Ihren Chats entwerfen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/page.py"/>
        <source>Editors, agents and scripts on this computer can use the loaded models, in the forms of OpenAI's, Anthropic's and llama.cpp's APIs. Your own messages go first.</source>
        <translation>Editoren, Agenten und Skripte auf diesem Rechner können die geladenen Modelle benutzen, in den Formen der APIs von OpenAI, Anthropic und llama.cpp. Ihre eigenen Nachrichten gehen vor.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/page.py"/>
        <source>Ignore changes of lines</source>
        <translation>Änderungen von Zeilen übergehen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/page.py"/>
        <source>Lines that change</source>
        <translation>Zeilen, die sich ändern</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/page.py"/>
        <source>Load the model that is asked for</source>
        <translation>Das Modell laden, nach dem gefragt wird</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/page.py"/>
        <source>Off: every program on this computer may ask, of all its users.</source>
        <translation>Aus: Jedes Programm auf diesem Rechner darf fragen, von allen seinen Benutzern.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/page.py"/>
        <source>Only programs on this computer reach it, and HTTP is not encrypted: from another computer, go by ssh, or put a proxy with TLS before it.</source>
        <translation>Nur Programme auf diesem Rechner erreichen ihn, und HTTP ist nicht verschlüsselt: Gehen Sie von einem anderen Rechner aus über ssh, oder setzen Sie einen Proxy mit TLS davor.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/page.py"/>
        <source>Other programs</source>
        <translation>Andere Programme</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/page.py"/>
        <source>Port</source>
        <translation>Port</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/page.py"/>
        <source>Programs need a key</source>
        <translation>Programme brauchen einen Schlüssel</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/page.py"/>
        <source>Programs see all models of this computer, and the one that they name takes the place of the loaded one, in your chats, too. Off: the loaded one answers under any name.</source>
        <translation>Programme sehen alle Modelle dieses Rechners, und das genannte tritt an die Stelle des geladenen, auch in Ihren Chats. Aus: Das geladene antwortet unter jedem Namen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/page.py"/>
        <source>Ready-made settings</source>
        <translation>Fertige Einstellungen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/page.py"/>
        <source>Serve other programs</source>
        <translation>Andere Programme bedienen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/page.py"/>
        <source>Server</source>
        <translation>Server</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/page.py"/>
        <source>Some programs put a number into their system prompt that is another one each time, and all that comes after it is read again. A line that an expression finds is replaced by the first such line of that program; the request's run says so.</source>
        <translation>Manche Programme setzen in ihren Systemprompt eine Zahl, die jedes Mal eine andere ist, und alles danach wird erneut gelesen. Eine Zeile, die ein Ausdruck findet, wird durch die erste solche Zeile dieses Programms ersetzt; der Ablauf der Anfrage sagt es.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/page.py"/>
        <source>Who may ask</source>
        <translation>Wer fragen darf</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/page.py"/>
        <source>Words of your chats then speed up their replies. No text changes by that, but its speed can tell what your chats say. Nothing is learned from their own texts.</source>
        <translation>Worte Ihrer Chats machen deren Antworten dann schneller. Kein Text ändert sich dadurch, aber das Tempo kann verraten, was in Ihren Chats steht. Aus den Texten der Programme wird nie gelernt.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/page.py"/>
        <source>lookups privacy</source>
        <translation>Nachschlagen Privatsphäre</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/page.py"/>
        <source>prompt cache read again regular expression</source>
        <translation>Prompt Cache erneut gelesen regulärer Ausdruck</translation>
    </message>
</context>
<context>
    <name>ProgressStrip</name>
    <message>
        <location filename="../../app/paceline/gui/bench/result_page.py"/>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/result_page.py"/>
        <source>Cancel the benchmark</source>
        <translation>Benchmark abbrechen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/result_page.py"/>
        <source>Replies that are measured</source>
        <translation>Gemessene Antworten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/result_page.py"/>
        <source>What was measured so far stays</source>
        <translation>Was bisher gemessen wurde, bleibt</translation>
    </message>
</context>
<context>
    <name>PromptCachePage</name>
    <message>
        <location filename="../../app/paceline/gui/settings/prompt_cache_page.py"/>
        <source>A chat that you come back to goes on without its prompt being read again, also after a restart, and so do chats and requests of other programs that begin alike. When this is switched, the models are loaded again.</source>
        <translation>Ein Chat, zu dem Sie zurückkommen, geht weiter, ohne dass sein Prompt noch einmal gelesen wird, auch nach einem Neustart; ebenso Chats und Anfragen anderer Programme, die gleich beginnen. Beim Umschalten werden die Modelle neu geladen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/prompt_cache_page.py"/>
        <source>Automatic</source>
        <translation>Automatisch</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/prompt_cache_page.py"/>
        <source>Automatic: 4 GB, and no more than a tenth of what is free. What was used longest ago goes first. Takes effect when models are loaded.</source>
        <translation>Automatisch: 4 GB, und nicht mehr als ein Zehntel dessen, was frei ist. Was am längsten nicht gebraucht wurde, geht zuerst. Gilt ab dem nächsten Laden.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/prompt_cache_page.py"/>
        <source>Automatic: an eighth of what is free after a load, and no more than 4 GB. Takes effect when models are loaded.</source>
        <translation>Automatisch: ein Achtel dessen, was nach dem Laden frei ist, und nicht mehr als 4 GB. Gilt ab dem nächsten Laden.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/prompt_cache_page.py"/>
        <source>In memory at most</source>
        <translation>Im Speicher höchstens</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/prompt_cache_page.py"/>
        <source>Keep what models have read</source>
        <translation>Aufheben, was Modelle gelesen haben</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/prompt_cache_page.py"/>
        <source>On disk at most</source>
        <translation>Auf der Festplatte höchstens</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/prompt_cache_page.py"/>
        <source>Prompt cache</source>
        <translation>Prompt-Cache</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/prompt_cache_page.py"/>
        <source>Prompts that were read</source>
        <translation>Gelesene Prompts</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/prompt_cache_page.py"/>
        <source>The states of models after the texts that they have read: your chats, and the prompts of other programs. The files hold the texts' tokens, so they say as much as the texts; only you can read them. Private chats never get to the disk, and their states serve no other chat. What you delete is gone from memory and disk at once; a chat that you bring back is read again.</source>
        <translation>Die Zustände der Modelle nach den Texten, die sie gelesen haben: Ihren Chats und den Prompts anderer Programme. Die Dateien enthalten die Token der Texte, sagen also so viel wie die Texte selbst; nur Sie können sie lesen. Private Chats kommen nie auf die Festplatte, und ihre Zustände dienen keinem anderen Chat. Was Sie löschen, ist sofort aus Speicher und Festplatte verschwunden; ein Chat, den Sie zurückholen, wird neu gelesen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/prompt_cache_page.py"/>
        <source>What is kept</source>
        <translation>Was aufgehoben ist</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/prompt_cache_page.py"/>
        <source>delete size</source>
        <translation>löschen größe</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/prompt_cache_page.py"/>
        <source>size limit</source>
        <translation>größe grenze</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/prompt_cache_page.py"/>
        <source>state wait first token memory</source>
        <translation>zustand warten erstes token speicher</translation>
    </message>
</context>
<context>
    <name>PromptingController</name>
    <message>
        <location filename="../../app/paceline/gui/sampling/prompting.py"/>
        <source>What is a list?</source>
        <translation>Was ist eine Liste?</translation>
    </message>
</context>
<context>
    <name>PromptsCard</name>
    <message>
        <location filename="../../app/paceline/gui/bench/setup_page.py"/>
        <source>All</source>
        <translation>Alle</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/setup_page.py"/>
        <source>Different kinds of work</source>
        <translation>Verschiedene Arten von Arbeit</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/setup_page.py"/>
        <source>Each with everything that was said before it, sampled as the panel says; answers end at {} tokens.</source>
        <translation>Jede mit allem, was vorher gesagt wurde, gezogen wie in der Leiste eingestellt; Antworten enden bei {} Token.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/setup_page.py"/>
        <source>Last questions</source>
        <translation>Letzte Fragen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/setup_page.py"/>
        <source>None</source>
        <translation>Keine</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/setup_page.py"/>
        <source>Prompts</source>
        <translation>Prompts</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/setup_page.py"/>
        <source>Questions</source>
        <translation>Fragen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/setup_page.py"/>
        <source>Shipped ones</source>
        <translation>Mitgelieferte</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/setup_page.py"/>
        <source>The last questions of the shown chat</source>
        <translation>Die letzten Fragen des gezeigten Chats</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/setup_page.py"/>
        <source>The shown chat has no questions yet.</source>
        <translation>Der gezeigte Chat hat noch keine Fragen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/setup_page.py"/>
        <source>This chat</source>
        <translation>Dieser Chat</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/setup_page.py"/>
        <source>Tick all prompts</source>
        <translation>Alle Prompts ankreuzen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/setup_page.py"/>
        <source>Tick no prompt</source>
        <translation>Keinen Prompt ankreuzen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/setup_page.py"/>
        <source>Up to {} tokens, temperature {:g}</source>
        <translation>Bis zu {} Token, Temperatur {:g}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/setup_page.py"/>
        <source>Where the prompts come from</source>
        <translation>Woher die Prompts kommen</translation>
    </message>
</context>
<context>
    <name>ProxyField</name>
    <message>
        <location filename="../../app/paceline/gui/settings/downloads_page.py"/>
        <source>Automatic: as HTTPS_PROXY says, or none</source>
        <translation>Automatisch: wie HTTPS_PROXY sagt, sonst keiner</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/downloads_page.py"/>
        <source>Proxy</source>
        <translation>Proxy</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/downloads_page.py"/>
        <source>This is no address of a proxy, and is not used. One looks like {}; it may also begin with https:// or socks5://.</source>
        <translation>Das ist keine Adresse eines Proxys und wird nicht benutzt. Eine sieht aus wie {}; sie kann auch mit https:// oder socks5:// beginnen.</translation>
    </message>
</context>
<context>
    <name>ReadingAheadController</name>
    <message>
        <location filename="../../app/paceline/gui/chat/reading_ahead.py"/>
        <source>Nothing is read ahead: it is switched off.</source>
        <translation>Es wird nichts vorab gelesen: Das ist ausgeschaltet.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/reading_ahead.py"/>
        <source>On battery, nothing is read ahead.</source>
        <translation>Im Akkubetrieb wird nichts vorab gelesen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/reading_ahead.py"/>
        <source>Read so far: {} of {} tokens.</source>
        <translation>Bisher gelesen: {} von {} Token.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/reading_ahead.py"/>
        <source>{} tokens are read already.</source>
        <translation>{} Token sind schon gelesen.</translation>
    </message>
</context>
<context>
    <name>ReasoningBlock</name>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/reply_body.py"/>
        <source>Copy the reasoning</source>
        <translation>Gedankengang kopieren</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/reply_body.py"/>
        <source>Reasoning</source>
        <translation>Gedankengang</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/reply_body.py"/>
        <source>Thinking…</source>
        <translation>Denkt nach …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/reply_body.py"/>
        <source>Thinking… {:.0f} s</source>
        <translation>Denkt nach … {:.0f} s</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/reply_body.py"/>
        <source>Thought for {:.1f} s</source>
        <translation>{:.1f} s nachgedacht</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/reply_body.py"/>
        <source>Thought for {minutes} min {seconds} s</source>
        <translation>{minutes} min {seconds} s nachgedacht</translation>
    </message>
</context>
<context>
    <name>Recipes</name>
    <message>
        <location filename="../../app/paceline/gui/serving/recipes.py"/>
        <source>A command for the shell.</source>
        <translation>Ein Befehl für die Shell.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/recipes.py"/>
        <source>A program with OpenAI's client.</source>
        <translation>Ein Programm mit dem Client von OpenAI.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/recipes.py"/>
        <source>Commands for the shell.</source>
        <translation>Befehle für die Shell.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/recipes.py"/>
        <source>Commands for the shell. What it tells the model takes more than 16,000 tokens: load a context of 32,768 or more.</source>
        <translation>Befehle für die Shell. Was es dem Modell mitteilt, sind mehr als 16.000 Token: Laden Sie einen Kontext von 32.768 oder mehr.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/recipes.py"/>
        <source>For Zed's settings.json. Zed keeps keys apart: give it in the settings of its agent, or in the variable PACELINE_API_KEY.</source>
        <translation>Für die settings.json von Zed. Schlüssel bewahrt Zed getrennt auf: Geben Sie ihn in den Einstellungen des Agenten an oder in der Variablen PACELINE_API_KEY.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/recipes.py"/>
        <source>For the file ~/.continue/config.yaml.</source>
        <translation>Für die Datei ~/.continue/config.yaml.</translation>
    </message>
</context>
<context>
    <name>RecipesView</name>
    <message>
        <location filename="../../app/paceline/gui/serving/page.py"/>
        <source>Copy the settings</source>
        <translation>Die Einstellungen kopieren</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/page.py"/>
        <source>Settings for the program</source>
        <translation>Einstellungen für das Programm</translation>
    </message>
</context>
<context>
    <name>RecommendedPage</name>
    <message>
        <location filename="../../app/paceline/gui/models/lists/recommended_page.py"/>
        <source>Draft models that were reported to work with {}.</source>
        <translation>Entwurfsmodelle, die mit {} funktioniert haben sollen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/recommended_page.py"/>
        <source>Look among the installed ones, or search on Hugging Face.</source>
        <translation>Sehen Sie unter den installierten nach, oder suchen Sie auf Hugging Face.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/recommended_page.py"/>
        <source>No draft model is recommended for this model</source>
        <translation>Für dieses Modell wird kein Entwurfsmodell empfohlen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/recommended_page.py"/>
        <source>Open the source</source>
        <translation>Quelle öffnen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/recommended_page.py"/>
        <source>Open the source in the browser</source>
        <translation>Quelle im Browser öffnen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/recommended_page.py"/>
        <source>Pairs that were reported to work; what suits this machine comes first.</source>
        <translation>Paare, die funktioniert haben sollen; was zu diesem Rechner passt, steht vorn.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/recommended_page.py"/>
        <source>Recommended pairs</source>
        <translation>Empfohlene Paare</translation>
    </message>
</context>
<context>
    <name>ReplyColumn</name>
    <message>
        <location filename="../../app/paceline/gui/compare/columns.py"/>
        <source>Read the prompt in {} s, wrote {} tokens in {} s.</source>
        <translation>Prompt gelesen in {} s, {} Token geschrieben in {} s.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/compare/columns.py"/>
        <source>Reading the prompt: {:.0f} %, {}…</source>
        <translation>Der Prompt wird gelesen: {:.0f} %, {} …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/compare/columns.py"/>
        <source>Reply</source>
        <translation>Antwort</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/compare/columns.py"/>
        <source>Reply: {}</source>
        <translation>Antwort: {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/compare/columns.py"/>
        <source>{:.0f} s</source>
        <translation>{:.0f} s</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/compare/columns.py"/>
        <source>{:.1f} s</source>
        <translation>{:.1f} s</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/compare/columns.py"/>
        <source>{} tokens/s</source>
        <translation>{} Token/s</translation>
    </message>
</context>
<context>
    <name>ReplyFooter</name>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/reply_view.py"/>
        <source>Figures of this reply: {}</source>
        <translation>Zahlen dieser Antwort: {}</translation>
    </message>
</context>
<context>
    <name>ReplyForm</name>
    <message>
        <location filename="../../app/paceline/gui/sampling/reply_form.py"/>
        <source>A JSON schema is an object in braces: {…}</source>
        <translation>Ein JSON-Schema ist ein Objekt in Klammern: {…}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/reply_form.py"/>
        <source>Any JSON</source>
        <translation>Beliebiges JSON</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/reply_form.py"/>
        <source>Free text</source>
        <translation>Freier Text</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/reply_form.py"/>
        <source>Grammar</source>
        <translation>Grammatik</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/reply_form.py"/>
        <source>Grammar (GBNF)</source>
        <translation>Grammatik (GBNF)</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/reply_form.py"/>
        <source>Insert an example</source>
        <translation>Beispiel einfügen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/reply_form.py"/>
        <source>JSON schema</source>
        <translation>JSON-Schema</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/reply_form.py"/>
        <source>Load from file…</source>
        <translation>Aus Datei laden …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/reply_form.py"/>
        <source>Structured output</source>
        <translation>Ausgabeformat</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/reply_form.py"/>
        <source>The grammar needs a rule named root: root ::= …</source>
        <translation>Die Grammatik braucht eine Regel namens root: root ::= …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/reply_form.py"/>
        <source>This JSON is nested too deeply or holds too large numbers.</source>
        <translation>Dieses JSON ist zu tief verschachtelt oder enthält zu große Zahlen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/reply_form.py"/>
        <source>This is no JSON: {} (line {}, column {}).</source>
        <translation>Das ist kein JSON: {} (Zeile {}, Spalte {}).</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/reply_form.py"/>
        <source>What the reply must look like; forced pieces are drafted for free.</source>
        <translation>Wie die Antwort aussehen muss; erzwungene Stücke werden kostenlos entworfen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/reply_form.py"/>
        <source>Write a JSON schema, for example: {}</source>
        <translation>Schreiben Sie ein JSON-Schema, zum Beispiel: {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/reply_form.py"/>
        <source>Write a grammar, for example: root ::= "yes" | "no"</source>
        <translation>Schreiben Sie eine Grammatik, zum Beispiel: root ::= "ja" | "nein"</translation>
    </message>
</context>
<context>
    <name>ReplyPage</name>
    <message>
        <location filename="../../app/paceline/gui/run/dialog.py"/>
        <source>Draft model</source>
        <translation>Entwurfsmodell</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/dialog.py"/>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/dialog.py"/>
        <source>Notes</source>
        <translation>Hinweise</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/dialog.py"/>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/dialog.py"/>
        <source>System prompt</source>
        <translation>System-Prompt</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/dialog.py"/>
        <source>What Auto decided</source>
        <translation>Was Auto entschied</translation>
    </message>
</context>
<context>
    <name>ReplyPresets</name>
    <message>
        <location filename="../../app/paceline/gui/sampling/presets.py"/>
        <source>A name cannot begin with a colon.</source>
        <translation>Ein Name kann nicht mit einem Doppelpunkt beginnen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/presets.py"/>
        <source>Always the likeliest token: the same reply each time, and the most right guesses.</source>
        <translation>Immer das wahrscheinlichste Token: jedes Mal dieselbe Antwort und die meisten richtigen Vermutungen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/presets.py"/>
        <source>Balanced</source>
        <translation>Ausgewogen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/presets.py"/>
        <source>Code</source>
        <translation>Code</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/presets.py"/>
        <source>Creative</source>
        <translation>Kreativ</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/presets.py"/>
        <source>Facts and instructions: stays close to the likeliest words.</source>
        <translation>Fakten und Anleitungen: bleibt nah an den wahrscheinlichsten Wörtern.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/presets.py"/>
        <source>Greedy</source>
        <translation>Greedy</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/presets.py"/>
        <source>Precise</source>
        <translation>Genau</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/presets.py"/>
        <source>Preset</source>
        <translation>Vorgabe</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/presets.py"/>
        <source>Programs: steady, without penalties, and room for long replies.</source>
        <translation>Programme: ruhig, ohne Strafen, mit Platz für lange Antworten.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/presets.py"/>
        <source>Stories and ideas: takes the less likely word more often.</source>
        <translation>Geschichten und Ideen: nimmt öfter das weniger wahrscheinliche Wort.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/presets.py"/>
        <source>The defaults: lively, and still to the point.</source>
        <translation>Die Grundeinstellung: lebendig und doch bei der Sache.</translation>
    </message>
</context>
<context>
    <name>ReplyView</name>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/reply_view.py"/>
        <source>Reply, being written</source>
        <translation>Antwort, wird geschrieben</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/reply_view.py"/>
        <source>Reply, failed</source>
        <translation>Antwort, fehlgeschlagen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/reply_view.py"/>
        <source>Reply, finished</source>
        <translation>Antwort, fertig</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/reply_view.py"/>
        <source>Reply, finished, {}</source>
        <translation>Antwort, fertig, {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/reply_view.py"/>
        <source>{:.0f} tokens per second</source>
        <translation>{:.0f} Token pro Sekunde</translation>
    </message>
</context>
<context>
    <name>ReplyWriter</name>
    <message>
        <location filename="../../app/paceline/gui/chat/controller.py"/>
        <source>Stopped when the program ended.</source>
        <translation>Abgebrochen, als das Programm endete.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/controller.py"/>
        <source>Stopped when the program was closed.</source>
        <translation>Abgebrochen, als das Programm geschlossen wurde.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/controller.py"/>
        <source>Stopped.</source>
        <translation>Angehalten.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/controller.py"/>
        <source>Stopping…</source>
        <translation>Wird angehalten …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/controller.py"/>
        <source>The engine ended while this reply was being written.</source>
        <translation>Die Engine wurde beendet, während diese Antwort geschrieben wurde.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/controller.py"/>
        <source>The oldest message was left out: the context is full.</source>
        <translation>Die älteste Nachricht wurde ausgelassen: Der Kontext ist voll.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/controller.py"/>
        <source>The oldest {} messages were left out: the context is full.</source>
        <translation>Die ältesten {} Nachrichten wurden ausgelassen: Der Kontext ist voll.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/controller.py"/>
        <source>Waiting for the engine…</source>
        <translation>Wartet auf die Engine …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/controller.py"/>
        <source>Waiting for the models: {:.0f} % loaded…</source>
        <translation>Wartet auf die Modelle: {:.0f} % geladen …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/controller.py"/>
        <source>What was written before is kept.</source>
        <translation>Was zuvor geschrieben wurde, bleibt erhalten.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/controller.py"/>
        <source>{} is being answered; this message is next…</source>
        <translation>{} bekommt gerade eine Antwort; diese Nachricht ist die nächste …</translation>
    </message>
</context>
<context>
    <name>RepositoryCard</name>
    <message>
        <location filename="../../app/paceline/gui/models/lists/repository_card.py"/>
        <source>Access is granted as soon as you agree to its terms on the web page.</source>
        <translation>Zugang gibt es, sobald Sie den Bedingungen auf der Webseite zustimmen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/repository_card.py"/>
        <source>Access must be asked for. {} Then enter a token of your account here.</source>
        <translation>Zugang muss erbeten werden. {} Dann geben Sie hier ein Token Ihres Kontos ein.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/repository_card.py"/>
        <source>Access token of Hugging Face</source>
        <translation>Zugangstoken von Hugging Face</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/repository_card.py"/>
        <source>Access token, hf_…</source>
        <translation>Zugangstoken, hf_…</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/repository_card.py"/>
        <source>Ask for access…</source>
        <translation>Um Zugang bitten …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/repository_card.py"/>
        <source>Back to the results</source>
        <translation>Zurück zu den Ergebnissen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/repository_card.py"/>
        <source>Back to the results (Alt+Left)</source>
        <translation>Zurück zu den Ergebnissen (Alt+Links)</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/repository_card.py"/>
        <source>Files</source>
        <translation>Dateien</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/repository_card.py"/>
        <source>Its owner decides who may have it.</source>
        <translation>Wer es haben darf, entscheidet der Eigentümer.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/repository_card.py"/>
        <source>License</source>
        <translation>Lizenz</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/repository_card.py"/>
        <source>Open in browser</source>
        <translation>Im Browser öffnen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/repository_card.py"/>
        <source>Use token</source>
        <translation>Token verwenden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/repository_card.py"/>
        <source>access granted</source>
        <translation>Zugang erteilt</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/lists/repository_card.py"/>
        <source>gated</source>
        <translation>beschränkt</translation>
    </message>
</context>
<context>
    <name>RequestRows</name>
    <message>
        <location filename="../../app/paceline/gui/serving/rows.py"/>
        <source>Asked</source>
        <translation>Gefragt</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/rows.py"/>
        <source>End</source>
        <translation>Ende</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/rows.py"/>
        <source>First token</source>
        <translation>Erstes Token</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/rows.py"/>
        <source>Gain</source>
        <translation>Gewinn</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/rows.py"/>
        <source>How many times as fast as the model alone</source>
        <translation>Wievielmal so schnell wie das Modell allein</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/rows.py"/>
        <source>Program</source>
        <translation>Programm</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/rows.py"/>
        <source>Read</source>
        <translation>Gelesen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/rows.py"/>
        <source>Reused</source>
        <translation>Behalten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/rows.py"/>
        <source>Seconds up to the first token</source>
        <translation>Sekunden bis zum ersten Token</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/rows.py"/>
        <source>The route, below the server's address</source>
        <translation>Die Route unter der Adresse des Servers</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/rows.py"/>
        <source>Time</source>
        <translation>Zeit</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/rows.py"/>
        <source>Tokens of the prompt that needed no reading</source>
        <translation>Token des Prompts, die nicht gelesen werden mussten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/rows.py"/>
        <source>Tokens of the prompt that were read anew</source>
        <translation>Token des Prompts, die neu gelesen wurden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/rows.py"/>
        <source>Tokens of the reply</source>
        <translation>Token der Antwort</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/rows.py"/>
        <source>Tokens of the reply by the time after the prompt</source>
        <translation>Token der Antwort durch die Zeit hinter dem Prompt</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/rows.py"/>
        <source>Tokens/s</source>
        <translation>Token/s</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/rows.py"/>
        <source>When it was handed to the engine</source>
        <translation>Wann sie der Engine übergeben wurde</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/rows.py"/>
        <source>Written</source>
        <translation>Geschrieben</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/rows.py"/>
        <source>complete</source>
        <translation>vollständig</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/rows.py"/>
        <source>context full</source>
        <translation>Kontext voll</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/rows.py"/>
        <source>failed</source>
        <translation>gescheitert</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/rows.py"/>
        <source>hung up</source>
        <translation>aufgelegt</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/rows.py"/>
        <source>is being answered</source>
        <translation>wird beantwortet</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/rows.py"/>
        <source>limit</source>
        <translation>Grenze</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/rows.py"/>
        <source>queue was full</source>
        <translation>Schlange war voll</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/rows.py"/>
        <source>stop text</source>
        <translation>Stopptext</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/rows.py"/>
        <source>stopped</source>
        <translation>angehalten</translation>
    </message>
</context>
<context>
    <name>RequestsDialog</name>
    <message>
        <location filename="../../app/paceline/gui/serving/requests.py"/>
        <source>Empties this list, which is kept in memory alone and gone with the window</source>
        <translation>Leert diese Liste, die nur im Speicher steht und mit dem Fenster verschwindet</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/requests.py"/>
        <source>Forget</source>
        <translation>Vergessen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/requests.py"/>
        <source>From now on the model is given the first such line; the settings have the list</source>
        <translation>Von nun an bekommt das Modell die erste solche Zeile; die Liste steht in den Einstellungen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/requests.py"/>
        <source>How the reply was made…</source>
        <translation>Wie die Antwort entstand …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/requests.py"/>
        <source>Ignore changes of this line</source>
        <translation>Änderungen dieser Zeile übergehen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/requests.py"/>
        <source>Requests of other programs</source>
        <translation>Anfragen anderer Programme</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/requests.py"/>
        <source>Settings…</source>
        <translation>Einstellungen …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/requests.py"/>
        <source>There are no requests in the list. The settings show what a program needs in order to ask.</source>
        <translation>In der Liste stehen keine Anfragen. Was ein Programm braucht, um zu fragen, zeigen die Einstellungen.</translation>
    </message>
</context>
<context>
    <name>ResultPage</name>
    <message>
        <location filename="../../app/paceline/gui/bench/result_page.py"/>
        <source>Speed of writing, compared with plain decoding</source>
        <translation>Schreibtempo, verglichen mit einfachem Dekodieren</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/result_page.py"/>
        <source>draft model</source>
        <translation>Entwurfsmodell</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/result_page.py"/>
        <source>lookups</source>
        <translation>Nachschlagen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/result_page.py"/>
        <source>plain decoding</source>
        <translation>einfaches Dekodieren</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/result_page.py"/>
        <source>thin line: middle half</source>
        <translation>dünne Linie: mittlere Hälfte</translation>
    </message>
</context>
<context>
    <name>RunController</name>
    <message>
        <location filename="../../app/paceline/gui/run/controller.py"/>
        <source>A message was sent meanwhile, so the check gave way.</source>
        <translation>Inzwischen wurde eine Nachricht gesendet, daher wich die Prüfung.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/controller.py"/>
        <source>Export the plot</source>
        <translation>Grafik exportieren</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/controller.py"/>
        <source>Export the steps</source>
        <translation>Schritte exportieren</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/controller.py"/>
        <source>Only files of the loaded pair can be read; load this model first.</source>
        <translation>Nur Dateien des geladenen Paars lassen sich lesen; laden Sie erst dieses Modell.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/controller.py"/>
        <source>Only replies of the shown chat can be verified.</source>
        <translation>Nur Antworten des gezeigten Chats können überprüft werden.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/controller.py"/>
        <source>Pictures (*.png)</source>
        <translation>Bilder (*.png)</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/controller.py"/>
        <source>Run records (*.json)</source>
        <translation>Abläufe (*.json)</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/controller.py"/>
        <source>Save the run record</source>
        <translation>Ablauf speichern</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/controller.py"/>
        <source>Tables (*.csv)</source>
        <translation>Tabellen (*.csv)</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/controller.py"/>
        <source>You stopped the check.</source>
        <translation>Sie haben die Prüfung angehalten.</translation>
    </message>
</context>
<context>
    <name>RunDetails</name>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>1 old message was left out</source>
        <translation>1 alte Nachricht wurde ausgelassen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>A stop text ended the reply.</source>
        <translation>Ein Stopptext beendete die Antwort.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>Alone</source>
        <translation>Allein</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>Alone, the model would have taken {} to {} s for these tokens; this took {} s.</source>
        <translation>Allein hätte das Modell für diese Token {} bis {} s gebraucht; dies brauchte {} s.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>Chat template</source>
        <translation>Chat-Vorlage</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>Context</source>
        <translation>Kontext</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>Earlier reply</source>
        <translation>Frühere Antwort</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>First token</source>
        <translation>Erstes Token</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>Grammar</source>
        <translation>Grammatik</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>Guesses that were right</source>
        <translation>Richtige Vermutungen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>How fast the model would have been alone was not measured.</source>
        <translation>Wie schnell das Modell allein gewesen wäre, wurde nicht gemessen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>JSON schema</source>
        <translation>JSON-Schema</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>Kernels</source>
        <translation>Kernel</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>Logits</source>
        <translation>Logits</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>Other programs kept the machine busy, so speeds scatter.</source>
        <translation>Andere Programme haben den Rechner beschäftigt, darum streut das Tempo.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>Paceline {}</source>
        <translation>Paceline {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>Prompt</source>
        <translation>Prompt</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>Ratio</source>
        <translation>Verhältnis</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>Read again</source>
        <translation>Erneut gelesen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>Reasoning</source>
        <translation>Gedankengang</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>Sampling</source>
        <translation>Ziehen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>Seed</source>
        <translation>Seed</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>Speed</source>
        <translation>Geschwindigkeit</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>Stop texts</source>
        <translation>Stopptexte</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>Strategy</source>
        <translation>Strategie</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>That is estimated from the one step of this reply without a draft, and from what wider steps cost here.</source>
        <translation>Geschätzt ist das aus dem einen Schritt dieser Antwort ohne Entwurf und daraus, was breitere Schritte hier kosten.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>That is estimated from what wider steps cost here.</source>
        <translation>Geschätzt ist das daraus, was breitere Schritte hier kosten.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>That is estimated from {} steps of this reply without a draft, and from what wider steps cost here.</source>
        <translation>Geschätzt ist das aus {} Schritten dieser Antwort ohne Entwurf und daraus, was breitere Schritte hier kosten.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>The context was full.</source>
        <translation>Der Kontext war voll.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>The model ended the reply.</source>
        <translation>Das Modell beendete die Antwort.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>The token limit ended the reply.</source>
        <translation>Die Token-Grenze beendete die Antwort.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>This reply was written without drafts: one token per step.</source>
        <translation>Diese Antwort entstand ohne Entwürfe: ein Token je Schritt.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>Tokens</source>
        <translation>Token</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>Tokens at most</source>
        <translation>Token höchstens</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>Versions</source>
        <translation>Versionen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>You stopped the reply.</source>
        <translation>Sie haben die Antwort angehalten.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>checked: the same text with any drafts</source>
        <translation>geprüft: mit jedem Entwurf derselbe Text</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>d MMM yyyy HH:mm</source>
        <translation>d. MMM yyyy HH:mm</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>llama-cpp-python {}</source>
        <translation>llama-cpp-python {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>not known yet whether they depend on the batch width</source>
        <translation>noch nicht bekannt, ob sie von der Breite des Batches abhängen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>part {} of the reply</source>
        <translation>Teil {} der Antwort</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>s</source>
        <translation>s</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>t/s</source>
        <translation>t/s</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>the same text with any drafts, whatever was in the context before</source>
        <translation>mit jedem Entwurf derselbe Text, gleich, was vorher im Kontext war</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>they depend on the batch width, so near-ties may fall either way</source>
        <translation>sie hängen von der Batch-Breite ab, also kann ein knapper Ausgang so oder so fallen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>your own</source>
        <translation>Ihre eigene</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>{:,} tokens, {:,} of them kept in memory</source>
        <translation>{:,} Token, {:,} davon im Speicher aufgehoben</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>{:,} tokens, {:,} of them kept on disk</source>
        <translation>{:,} Token, {:,} davon auf der Festplatte aufgehoben</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>{:,} tokens, {:,} of them still in the context</source>
        <translation>{:,} Token, {:,} davon noch im Kontext</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>{} (the likeliest token)</source>
        <translation>{} (das wahrscheinlichste Token)</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>{} (up to {:.2g} apart)</source>
        <translation>{} (bis zu {:.2g} auseinander)</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>{} at first, {} at the end</source>
        <translation>anfangs {}, am Ende {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>{} logit biases</source>
        <translation>{} Logit-Verschiebungen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/run_words.py"/>
        <source>{} old messages were left out</source>
        <translation>{} alte Nachrichten wurden ausgelassen</translation>
    </message>
</context>
<context>
    <name>RunDialog</name>
    <message>
        <location filename="../../app/paceline/gui/run/dialog.py"/>
        <source>&amp;Copy run record</source>
        <translation>Ablauf &amp;kopieren</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/dialog.py"/>
        <source>&amp;Save…</source>
        <translation>&amp;Speichern …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/dialog.py"/>
        <source>&amp;Verify sameness</source>
        <translation>&amp;Gleichheit prüfen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/dialog.py"/>
        <source>As JSON, with all steps</source>
        <translation>Als JSON, mit allen Schritten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/dialog.py"/>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/dialog.py"/>
        <source>Generates this reply once more without drafts, and compares</source>
        <translation>Erzeugt diese Antwort noch einmal ohne Entwürfe und vergleicht</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/dialog.py"/>
        <source>How this reply was made</source>
        <translation>Wie diese Antwort entstand</translation>
    </message>
</context>
<context>
    <name>SamenessStrip</name>
    <message>
        <location filename="../../app/paceline/gui/run/sameness.py"/>
        <source>Plain decoding</source>
        <translation>Einfaches Dekodieren</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/sameness.py"/>
        <source>Reply</source>
        <translation>Antwort</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/sameness.py"/>
        <source>Stop</source>
        <translation>Anhalten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/sameness.py"/>
        <source>Stop the check</source>
        <translation>Prüfung anhalten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/sameness.py"/>
        <source>Tokens compared</source>
        <translation>Verglichene Token</translation>
    </message>
</context>
<context>
    <name>SamenessWords</name>
    <message>
        <location filename="../../app/paceline/gui/run/sameness.py"/>
        <source>(its end, or a token without text)</source>
        <translation>(ihr Ende oder ein Token ohne Text)</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/sameness.py"/>
        <source>Checked: the same text, all {:,} tokens.</source>
        <translation>Geprüft: derselbe Text, alle {:,} Token gleich.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/sameness.py"/>
        <source>Exact mode (in the loading settings) avoids that.</source>
        <translation>Der exakte Modus (in den Ladeeinstellungen) vermeidet das.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/sameness.py"/>
        <source>How far logits depend on the width of a batch was not looked at here yet.</source>
        <translation>Wie weit Logits hier von der Breite eines Batches abhängen, wurde noch nicht untersucht.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/sameness.py"/>
        <source>If one logit changes by {:.3g}, plain decoding has the reply's token, too.</source>
        <translation>Ändert sich ein Logit um {:.3g}, hat auch das einfache Dekodieren das Token der Antwort.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/sameness.py"/>
        <source>No change of one logit gives plain decoding the reply's token.</source>
        <translation>Keine Änderung eines einzelnen Logits bringt das einfache Dekodieren zum Token der Antwort.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/sameness.py"/>
        <source>Of the prompt, {:,} tokens were reused then and {:,} now; what was computed in other batches can differ by rounding.</source>
        <translation>Vom Prompt wurden damals {:,} Token wiederverwendet und jetzt {:,}; was in anderen Batches berechnet wurde, kann sich durch Rundung unterscheiden.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/sameness.py"/>
        <source>Reading the prompt…</source>
        <translation>Der Prompt wird gelesen …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/sameness.py"/>
        <source>Rounding was not seen to do so much here (up to {:.2g} in a logit). Was the reply made with other kernels, threads, devices or cache types?</source>
        <translation>So viel hat Rundung hier bisher nicht ausgemacht (bis zu {:.2g} in einem Logit). Wurde die Antwort mit anderen Kernels, Threads, Geräten oder Cache-Typen erzeugt?</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/sameness.py"/>
        <source>That is a near-tie: between batch widths a logit was seen to differ by up to {:.2g} here.</source>
        <translation>Das ist ein knapper Fall: Zwischen Batch-Breiten unterschied sich ein Logit hier um bis zu {:.2g}.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/sameness.py"/>
        <source>This pair gives the same text with any strategy here, so this should not be; please report it with the run record.</source>
        <translation>Dieses Paar gibt hier mit jeder Strategie denselben Text, also dürfte das nicht sein; bitte melden Sie es mit dem gespeicherten Ablauf.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/sameness.py"/>
        <source>Token {:,} of {:,} differs.</source>
        <translation>Token {:,} von {:,} weicht ab.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/sameness.py"/>
        <source>Was the reply made with other settings or kernels, or not in exact mode?</source>
        <translation>Wurde die Antwort mit anderen Einstellungen oder Kernels erzeugt, oder nicht im exakten Modus?</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/sameness.py"/>
        <source>{:,} of {:,} tokens the same</source>
        <translation>{:,} von {:,} Token gleich</translation>
    </message>
</context>
<context>
    <name>SamplingController</name>
    <message>
        <location filename="../../app/paceline/gui/sampling/controller.py"/>
        <source>Delete some of yours first.</source>
        <translation>Löschen Sie zuerst einige eigene.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/controller.py"/>
        <source>Delete “{}”</source>
        <translation>„{}“ löschen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/controller.py"/>
        <source>Export your presets</source>
        <translation>Eigene Vorgaben exportieren</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/controller.py"/>
        <source>Export…</source>
        <translation>Exportieren …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/controller.py"/>
        <source>Grammars (*.gbnf *.txt);;All files (*)</source>
        <translation>Grammatiken (*.gbnf *.txt);;Alle Dateien (*)</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/controller.py"/>
        <source>Import presets</source>
        <translation>Vorgaben importieren</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/controller.py"/>
        <source>Imported: {}.</source>
        <translation>Importiert: {}.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/controller.py"/>
        <source>Import…</source>
        <translation>Importieren …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/controller.py"/>
        <source>JSON (*.json);;All files (*)</source>
        <translation>JSON (*.json);;Alle Dateien (*)</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/controller.py"/>
        <source>Load a JSON schema</source>
        <translation>JSON-Schema laden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/controller.py"/>
        <source>Load a grammar</source>
        <translation>Grammatik laden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/controller.py"/>
        <source>Preset</source>
        <translation>Vorgabe</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/controller.py"/>
        <source>Presets (*.json)</source>
        <translation>Vorgaben (*.json)</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/controller.py"/>
        <source>Presets (*.json);;All files (*)</source>
        <translation>Vorgaben (*.json);;Alle Dateien (*)</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/controller.py"/>
        <source>Rename “{}”…</source>
        <translation>„{}“ umbenennen …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/controller.py"/>
        <source>Save</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/controller.py"/>
        <source>Save as a preset</source>
        <translation>Als Vorgabe speichern</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/controller.py"/>
        <source>Save as…</source>
        <translation>Speichern unter …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/controller.py"/>
        <source>The file holds {} presets, and there is room for {}.</source>
        <translation>Die Datei enthält {} Vorgaben, Platz ist für {}.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/controller.py"/>
        <source>The preset “{}” is deleted.</source>
        <translation>Die Vorgabe „{}“ ist gelöscht.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/controller.py"/>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/controller.py"/>
        <source>Update “{}”</source>
        <translation>„{}“ aktualisieren</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/controller.py"/>
        <source>Use the preset {}</source>
        <translation>Vorgabe {} verwenden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/controller.py"/>
        <source>Use “{}” for new chats</source>
        <translation>„{}“ für neue Chats nehmen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/controller.py"/>
        <source>from folder “{}”</source>
        <translation>aus dem Ordner „{}“</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/controller.py"/>
        <source>{} (new chats)</source>
        <translation>{} (neue Chats)</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/controller.py"/>
        <source>“{}” took the place of your values.</source>
        <translation>„{}“ ist an die Stelle Ihrer Werte getreten.</translation>
    </message>
</context>
<context>
    <name>SamplingSettings</name>
    <message>
        <location filename="../../app/paceline/gui/sampling/sampling_settings.py"/>
        <source>Before it go the instructions {}.</source>
        <translation>Davor stehen die Anweisungen {}.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/sampling_settings.py"/>
        <source>Chat template: guessed…</source>
        <translation>Chat-Vorlage: geraten …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/sampling_settings.py"/>
        <source>Chat template: your own…</source>
        <translation>Chat-Vorlage: Ihre eigene …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/sampling_settings.py"/>
        <source>Chat template…</source>
        <translation>Chat-Vorlage …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/sampling_settings.py"/>
        <source>How much the model reasons before it answers: the choices that its chat template has. Kept for each model.</source>
        <translation>Wie viel das Modell überlegt, bevor es antwortet: die Stufen, die seine Chat-Vorlage hat. Wird für jedes Modell behalten.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/sampling_settings.py"/>
        <source>More</source>
        <translation>Mehr</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/sampling_settings.py"/>
        <source>Reasoning</source>
        <translation>Gedankengang</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/sampling_settings.py"/>
        <source>Reset to defaults</source>
        <translation>Auf Vorgaben zurücksetzen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/sampling_settings.py"/>
        <source>Sampling and prompt</source>
        <translation>Ziehen und Prompt</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/sampling_settings.py"/>
        <source>Shorten long chats</source>
        <translation>Lange Chats kürzen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/sampling_settings.py"/>
        <source>System prompt: the model's role</source>
        <translation>System-Prompt: Rolle des Modells</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/sampling_settings.py"/>
        <source>The oldest messages are left out when a chat outgrows the context. Off: such a message is refused.</source>
        <translation>Die ältesten Nachrichten werden ausgelassen, wenn ein Chat über den Kontext hinauswächst. Aus: Eine solche Nachricht wird abgelehnt.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/sampling_settings.py"/>
        <source>as the model does</source>
        <translation>wie das Modell es tut</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/sampling_settings.py"/>
        <source>high</source>
        <translation>viel</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/sampling_settings.py"/>
        <source>low</source>
        <translation>wenig</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/sampling_settings.py"/>
        <source>medium</source>
        <translation>mittel</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/sampling_settings.py"/>
        <source>most</source>
        <translation>am meisten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/sampling_settings.py"/>
        <source>off</source>
        <translation>aus</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/sampling_settings.py"/>
        <source>on</source>
        <translation>an</translation>
    </message>
</context>
<context>
    <name>SaveFile</name>
    <message>
        <location filename="../../app/paceline/gui/kit/file_dialogs.py"/>
        <source>Choose another folder.</source>
        <translation>Wählen Sie einen anderen Ordner.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/kit/file_dialogs.py"/>
        <source>Saved as {}.</source>
        <translation>Gespeichert als {}.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/kit/file_dialogs.py"/>
        <source>“{}” could not be saved ({}).</source>
        <translation>„{}“ ließ sich nicht speichern ({}).</translation>
    </message>
</context>
<context>
    <name>SeedField</name>
    <message>
        <location filename="../../app/paceline/gui/sampling/reply_form.py"/>
        <source>A whole number from 0 to {}</source>
        <translation>Eine ganze Zahl von 0 bis {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/reply_form.py"/>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/reply_form.py"/>
        <source>Copy the seed</source>
        <translation>Seed kopieren</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/reply_form.py"/>
        <source>Every reply draws a new seed.</source>
        <translation>Jede Antwort zieht einen neuen Seed.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/reply_form.py"/>
        <source>Fixed</source>
        <translation>Fest</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/reply_form.py"/>
        <source>Last reply's</source>
        <translation>Der letzten Antwort</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/reply_form.py"/>
        <source>New each time</source>
        <translation>Jedes Mal neu</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/reply_form.py"/>
        <source>Use the seed of the last reply</source>
        <translation>Den Seed der letzten Antwort verwenden</translation>
    </message>
</context>
<context>
    <name>Sentences</name>
    <message>
        <location filename="../../app/engine/sameness/promise.py"/>
        <source> (checked, {n:,} rows)</source>
        <translation> (geprüft, {n:,} Zeilen)</translation>
    </message>
    <message>
        <location filename="../../app/engine/sameness/promise.py"/>
        <source>, as far as was looked</source>
        <translation>, soweit geprüft wurde</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>1 step, {share}</source>
        <translation>1 Schritt, {share}</translation>
    </message>
    <message>
        <location filename="../../app/engine/measure/thread_choice.py"/>
        <source>1 thread</source>
        <translation>1 Thread</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>1 token: {seconds:time}</source>
        <translation>1 Token: {seconds:time}</translation>
    </message>
    <message>
        <location filename="../../app/resources/curated_pairs.json"/>
        <source>1.10 times as fast on a B200</source>
        <translation>1,10-mal so schnell auf einer B200</translation>
    </message>
    <message>
        <location filename="../../app/resources/curated_pairs.json"/>
        <source>1.13 times as fast on a B200</source>
        <translation>1,13-mal so schnell auf einer B200</translation>
    </message>
    <message>
        <location filename="../../app/resources/curated_pairs.json"/>
        <source>1.17 to 1.20 times as fast on four RTX 3090 (both Q4_K_M), a draft of one token</source>
        <translation>1,17- bis 1,20-mal so schnell auf vier RTX 3090 (beide Q4_K_M), ein Entwurf von einem Token</translation>
    </message>
    <message>
        <location filename="../../app/resources/curated_pairs.json"/>
        <source>1.29 times as fast on average, 1.5 on code, 1.1 on poetry, on an RTX 5090 (both UD-Q4_K_XL); files from before mid-April 2026 lack a begin token and do not fit</source>
        <translation>Im Mittel 1,29-mal so schnell, 1,5-mal bei Code, 1,1-mal bei Gedichten, auf einer RTX 5090 (beide UD-Q4_K_XL); Dateien von vor Mitte April 2026 fehlt ein Anfangstoken, sie passen nicht</translation>
    </message>
    <message>
        <location filename="../../app/resources/curated_pairs.json"/>
        <source>1.29, 1.95 and 2.35 times as fast on an RTX 4070 Ti SUPER (model Q6_K, head F16)</source>
        <translation>1,29-, 1,95- und 2,35-mal so schnell auf einer RTX 4070 Ti SUPER (Modell Q6_K, Kopf F16)</translation>
    </message>
    <message>
        <location filename="../../app/resources/curated_pairs.json"/>
        <source>1.47 times as fast on an RTX 3090, 1.62 times on a P40</source>
        <translation>1,47-mal so schnell auf einer RTX 3090, 1,62-mal auf einer P40</translation>
    </message>
    <message>
        <location filename="../../app/resources/curated_pairs.json"/>
        <source>1.77 times as fast, the median of 53 machines with GPUs, from 1.00 to 2.45</source>
        <translation>1,77-mal so schnell, der Median von 53 Rechnern mit GPUs, von 1,00 bis 2,45</translation>
    </message>
    <message>
        <location filename="../../app/resources/curated_pairs.json"/>
        <source>1.99 times as fast with the plain Qwen2.5 of these sizes on an M4 Max (both Q8_0), one run</source>
        <translation>1,99-mal so schnell mit dem einfachen Qwen2.5 dieser Größen auf einem M4 Max (beide Q8_0), eine Messung</translation>
    </message>
    <message>
        <location filename="../../app/resources/curated_pairs.json"/>
        <source>14B 1.34 times as fast in Q4_K_M and 2.37 in Q8_0, 7B 1.25 and 1.99 times, on an M4 Max (draft Q8_0), one run</source>
        <translation>14B 1,34-mal so schnell in Q4_K_M und 2,37-mal in Q8_0, 7B 1,25- und 1,99-mal, auf einem M4 Max (Entwurf Q8_0), eine Messung</translation>
    </message>
    <message>
        <location filename="../../app/resources/curated_pairs.json"/>
        <source>2.15 times as fast on an RTX 3090 (Q4_K_M, draft Q4_0), one report</source>
        <translation>2,15-mal so schnell auf einer RTX 3090 (Q4_K_M, Entwurf Q4_0), ein Bericht</translation>
    </message>
    <message>
        <location filename="../../app/resources/curated_pairs.json"/>
        <source>2.29 times as fast on an RTX 3090 (Q8_0, draft Q4_0), one report</source>
        <translation>2,29-mal so schnell auf einer RTX 3090 (Q8_0, Entwurf Q4_0), ein Bericht</translation>
    </message>
    <message>
        <location filename="../../app/resources/curated_pairs.json"/>
        <source>2.37 times as fast with the plain Qwen2.5 of these sizes on an M4 Max (both Q8_0), one run</source>
        <translation>2,37-mal so schnell mit dem einfachen Qwen2.5 dieser Größen auf einem M4 Max (beide Q8_0), eine Messung</translation>
    </message>
    <message>
        <location filename="../../app/resources/curated_pairs.json"/>
        <source>2.65 times as fast on code, and 0.80 on prose, in the program hipfire, one report</source>
        <translation>2,65-mal so schnell bei Code und 0,80-mal bei Prosa, im Programm hipfire, ein Bericht</translation>
    </message>
    <message>
        <location filename="../../app/resources/curated_pairs.json"/>
        <source>32B 1.67 times as fast in Q4_K_M and 2.41 in Q8_0, 72B 1.94 and 2.93 times, on an M4 Max (draft Q4_K_M), one run</source>
        <translation>32B 1,67-mal so schnell in Q4_K_M und 2,41-mal in Q8_0, 72B 1,94- und 2,93-mal, auf einem M4 Max (Entwurf Q4_K_M), eine Messung</translation>
    </message>
    <message>
        <location filename="../../app/chat/sameness.py"/>
        <source>A check is under way.</source>
        <translation>Eine Prüfung läuft.</translation>
    </message>
    <message>
        <location filename="../../app/chat/comparison.py"/>
        <source>A comparison is under way.</source>
        <translation>Ein Vergleich läuft.</translation>
    </message>
    <message>
        <location filename="../../app/hosting/supervisor.py"/>
        <source>A computation of the engine hangs: it has taken {decode_s:.0f} seconds</source>
        <translation>Eine Berechnung der Engine hängt: Sie dauert schon {decode_s:.0f} Sekunden</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/model_params.py"/>
        <source>A context of {n_ctx:,} tokens for “{name}” needs {need:size} of memory; {free:size} are free.</source>
        <translation>Ein Kontext von {n_ctx:,} Token für „{name}“ braucht {need:size} Speicher; {free:size} sind frei.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/model_params.py"/>
        <source>A context of {n_ctx:,} tokens is longer than the {n_ctx_train:,} that the model was trained for.</source>
        <translation>Ein Kontext von {n_ctx:,} Token ist länger als die {n_ctx_train:,}, für die das Modell trainiert wurde.</translation>
    </message>
    <message>
        <location filename="../../app/storage/problems.py"/>
        <source>A copy is put aside, and what can be read is taken over. {kept}</source>
        <translation>Eine Kopie wird beiseitegelegt, und was lesbar ist, wird übernommen. {kept}</translation>
    </message>
    <message>
        <location filename="../../app/engine/turn.py"/>
        <source>A decode failed, and these models can do no more.</source>
        <translation>Ein Dekodieren ist fehlgeschlagen, und diese Modelle können nicht weiterarbeiten.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/model_params.py"/>
        <source>A device's share of the model is out of range.</source>
        <translation>Der Anteil eines Geräts am Modell liegt außerhalb des erlaubten Bereichs.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/registry.py"/>
        <source>A drafter from a plug-in.</source>
        <translation>Ein Entwerfer aus einem Plug-in.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/strategy.py"/>
        <source>A drafter is missing in “{missing}”.</source>
        <translation>In „{missing}“ fehlt ein Entwerfer.</translation>
    </message>
    <message>
        <location filename="../../app/chat/presets.py"/>
        <location filename="../../app/engine/request.py"/>
        <source>A grammar and a JSON schema are given.</source>
        <translation>Eine Grammatik und ein JSON-Schema sind angegeben.</translation>
    </message>
    <message>
        <location filename="../../app/engine/request.py"/>
        <source>A grammar ends the reply, but ends are to be ignored.</source>
        <translation>Eine Grammatik beendet die Antwort, aber Enden sollen ignoriert werden.</translation>
    </message>
    <message>
        <location filename="../../app/engine/sample/sampling.py"/>
        <source>A logit bias names token {token}, which does not exist.</source>
        <translation>Eine Logit-Verschiebung nennt Token {token}, das es nicht gibt.</translation>
    </message>
    <message>
        <location filename="../../app/chat/attachments.py"/>
        <source>A message can have {most} files; these would be {n}.</source>
        <translation>Eine Nachricht kann {most} Dateien haben; das wären {n}.</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/conversation.py"/>
        <source>A message has the role “{role}”.</source>
        <translation>Eine Nachricht hat die Rolle „{role}“.</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/template.py"/>
        <source>A message holds the text of a control token, and this model's chat template leaves no way to keep it plain text.</source>
        <translation>Eine Nachricht enthält den Text eines Steuertokens, und die Chat-Vorlage dieses Modells lässt keinen Weg, ihn als bloßen Text zu behalten.</translation>
    </message>
    <message>
        <location filename="../../app/chat/sameness.py"/>
        <source>A message was sent meanwhile, so the check gave way.</source>
        <translation>Inzwischen wurde eine Nachricht gesendet, darum wurde die Prüfung abgebrochen.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/placement.py"/>
        <source>A model can be put on {most} devices at most, and these are {n}: {names}.</source>
        <translation>Ein Modell kann auf höchstens {most} Geräten liegen, und das sind {n}: {names}.</translation>
    </message>
    <message>
        <location filename="../../app/hosting/exit_reasons.py"/>
        <source>A model file became unreadable while it was used (SIGBUS): it was changed, or its disk failed.</source>
        <translation>Eine Modelldatei wurde unlesbar, während sie benutzt wurde (SIGBUS): Sie wurde geändert, oder ihr Datenträger versagt.</translation>
    </message>
    <message>
        <location filename="../../app/chat/presets.py"/>
        <source>A preset has no name.</source>
        <translation>Eine Vorgabe hat keinen Namen.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/model_params.py"/>
        <source>A quantised V cache needs flash attention.</source>
        <translation>Ein quantisierter V-Cache braucht Flash Attention.</translation>
    </message>
    <message>
        <location filename="../../app/chat/comparison.py"/>
        <location filename="../../app/chat/sameness.py"/>
        <source>A reply is being written.</source>
        <translation>Eine Antwort wird gerade geschrieben.</translation>
    </message>
    <message>
        <location filename="../../app/chat/presets.py"/>
        <source>A stop string has {n} characters.</source>
        <translation>Ein Stopptext hat {n} Zeichen.</translation>
    </message>
    <message>
        <location filename="../../app/chat/presets.py"/>
        <source>A stop string is empty.</source>
        <translation>Ein Stopptext ist leer.</translation>
    </message>
    <message>
        <location filename="../../app/chat/presets.py"/>
        <source>A text holds half of a character (a surrogate).</source>
        <translation>Ein Text enthält ein halbes Zeichen (ein Surrogat).</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/translation.py"/>
        <source>A text that is to be replaced for the draft model, or its replacement, is empty.</source>
        <translation>Ein Text, der für das Entwurfsmodell ersetzt werden soll, oder sein Ersatz ist leer.</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/conversation.py"/>
        <source>A tool's result answers the call “{call}”, but no message before it has made such a call.</source>
        <translation>Das Ergebnis eines Werkzeugs beantwortet den Aufruf „{call}“, aber keine Nachricht davor enthält einen solchen Aufruf.</translation>
    </message>
    <message>
        <location filename="../../app/resources/curated_pairs.json"/>
        <source>About 1.8 times as fast (model QAT Q4_0, draft F16, p_min 0.85, n_max 8)</source>
        <translation>Etwa 1,8-mal so schnell (Modell QAT Q4_0, Entwurf F16, p_min 0,85, n_max 8)</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>Accept its terms on {where}, then give Paceline your access token.</source>
        <translation>Nehmen Sie die Bedingungen auf {where} an, und geben Sie Paceline dann Ihr Zugriffstoken.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/states.py"/>
        <source>All that was drafted can be taken back.</source>
        <translation>Alles, was entworfen wurde, kann zurückgenommen werden.</translation>
    </message>
    <message>
        <location filename="../../app/storage/problems.py"/>
        <source>Allow writing to the file and its folder. {kept}</source>
        <translation>Erlauben Sie das Schreiben in die Datei und ihren Ordner. {kept}</translation>
    </message>
    <message>
        <location filename="../../app/server/unchanged.py"/>
        <source>An expression has {n:,} characters, but {most:,} are the most.</source>
        <translation>Ein Ausdruck hat {n:,} Zeichen, aber höchstens {most:,} sind erlaubt.</translation>
    </message>
    <message>
        <location filename="../../app/chat/sameness.py"/>
        <source>Another model is loaded than the one that wrote this reply ({file}).</source>
        <translation>Es ist ein anderes Modell geladen als das, das diese Antwort geschrieben hat ({file}).</translation>
    </message>
    <message>
        <location filename="../../app/storage/problems.py"/>
        <source>Another program keeps the chats in {path} locked.</source>
        <translation>Ein anderes Programm hält die Chats in {path} gesperrt.</translation>
    </message>
    <message>
        <location filename="../../app/engine/sameness/promise.py"/>
        <source>Another strategy can turn a near-tie here: logits depend on the width of a batch, by up to {difference:.2g} as seen so far. Exact mode avoids that.</source>
        <translation>Eine andere Strategie kann hier einen knappen Fall anders entscheiden: Logits hängen von der Breite eines Batches ab, bisher um bis zu {difference:.2g}. Der exakte Modus vermeidet das.</translation>
    </message>
    <message>
        <location filename="../../app/resources/curated_pairs.json"/>
        <source>Any model of 2B and less</source>
        <translation>Jedes Modell bis 2B</translation>
    </message>
    <message>
        <location filename="../../app/engine/decode/likelihoods.py"/>
        <source>Ask for 0 to {most}.</source>
        <translation>Fragen Sie nach 0 bis {most}.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>Ask for access on {where}.</source>
        <translation>Bitten Sie auf {where} um Zugang.</translation>
    </message>
    <message>
        <location filename="../../app/params.py"/>
        <source>At least one share must be above 0.</source>
        <translation>Mindestens ein Anteil muss über 0 liegen.</translation>
    </message>
    <message>
        <location filename="../../app/chat/attachments.py"/>
        <source>Attach a file with text.</source>
        <translation>Hängen Sie eine Textdatei an.</translation>
    </message>
    <message>
        <location filename="../../app/chat/attachments.py"/>
        <source>Attach a file.</source>
        <translation>Hängen Sie eine Datei an.</translation>
    </message>
    <message>
        <location filename="../../app/chat/attachments.py"/>
        <source>Attach the files in it.</source>
        <translation>Hängen Sie die Dateien darin an.</translation>
    </message>
    <message>
        <location filename="../../app/chat/attachments.py"/>
        <source>Attach the part that matters.</source>
        <translation>Hängen Sie den Teil an, auf den es ankommt.</translation>
    </message>
    <message>
        <location filename="../../app/bench/runner.py"/>
        <source>Auto began every reply without knowing how often guesses are right.</source>
        <translation>Auto begann jede Antwort, ohne zu wissen, wie oft Vermutungen richtig sind.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>Auto begins without drafts, until it knows what they would cost.</source>
        <translation>Auto beginnt ohne Entwürfe, bis bekannt ist, was sie kosten würden.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>Auto is still learning what drafts gain here.</source>
        <translation>Auto lernt noch, was Entwürfe hier bringen.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>Auto was never noticeably slower.</source>
        <translation>Auto war nie merklich langsamer.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>Auto was noticeably slower in {n:,} of {of:,} replies.</source>
        <translation>Auto war in {n:,} von {of:,} Antworten merklich langsamer.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>Auto: {reason}</source>
        <translation>Auto: {reason}</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>Auto: {reason}, {n:.1f} tokens expected ({gain:.2f}×)</source>
        <translation>Auto: {reason}, {n:.1f} Token erwartet ({gain:.2f}×)</translation>
    </message>
    <message>
        <location filename="../../app/storage/problems.py"/>
        <source>Before this version of Paceline changes the file {path} with the chats, it copies it, and there is no room for the copy.</source>
        <translation>Bevor diese Version von Paceline die Datei {path} mit den Chats ändert, kopiert sie sie, und für die Kopie ist kein Platz.</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/template.py"/>
        <source>Beside a system prompt, this model's chat template ignores how much the model is to reason.</source>
        <translation>Neben einem System-Prompt beachtet die Chat-Vorlage dieses Modells nicht, wie viel das Modell nachdenken soll.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <source>Both are of the family “{family}”.</source>
        <translation>Beide sind aus der Familie „{family}“.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <source>Both are the same model, so drafting costs as much as it saves.</source>
        <translation>Beide sind dasselbe Modell, darum kostet das Entwerfen so viel, wie es spart.</translation>
    </message>
    <message>
        <location filename="../../app/engine/opening.py"/>
        <source>Both models read the same tokens, so there is nothing to translate or to replace in drafts.</source>
        <translation>Beide Modelle lesen dieselben Token, darum gibt es in Entwürfen nichts zu übersetzen oder zu ersetzen.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <source>Both read the same {ours:,} tokens.</source>
        <translation>Beide lesen dieselben {ours:,} Token.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/lookups/lookup_cache.py"/>
        <source>Build one for this model by `paceline cache build`.</source>
        <translation>Erzeugen Sie einen für dieses Modell mit `paceline cache build`.</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/renderer.py"/>
        <source>Chat templates cannot be read: their process does not start ({reason}).</source>
        <translation>Chat-Vorlagen können nicht gelesen werden: Ihr Prozess startet nicht ({reason}).</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/reading.py"/>
        <source>Chat {n} of {n_chats} in “{name}”, “{title}”: {what}</source>
        <translation>Chat {n} von {n_chats} in „{name}“, „{title}“: {what}</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/reading.py"/>
        <source>Chat {n} of {n_chats} in “{name}”: {what}</source>
        <translation>Chat {n} von {n_chats} in „{name}“: {what}</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>Check HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, SSL_CERT_FILE and SSL_CERT_DIR.</source>
        <translation>Prüfen Sie HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, SSL_CERT_FILE und SSL_CERT_DIR.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>Check its address; it begins with http:// and ends with a port.</source>
        <translation>Prüfen Sie seine Adresse; sie beginnt mit http:// und endet mit einem Port.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/lookups/lookup_cache.py"/>
        <source>Check its path and permissions, or make one by `paceline cache build`.</source>
        <translation>Prüfen Sie Pfad und Rechte, oder erzeugen Sie einen mit `paceline cache build`.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/model_file.py"/>
        <source>Check its permissions.</source>
        <translation>Prüfen Sie die Zugriffsrechte.</translation>
    </message>
    <message>
        <location filename="../../app/engine/sample/drawing.py"/>
        <source>Check that every text that the grammar begins can be completed, and that no logit bias forbids what it needs.</source>
        <translation>Prüfen Sie, ob jeder Text, den die Grammatik beginnt, vollendet werden kann, und ob keine Logit-Verschiebung verbietet, was sie braucht.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/rpc_servers.py"/>
        <source>Check that it is switched on and in this network; or leave this server out.</source>
        <translation>Prüfen Sie, ob er eingeschaltet und in diesem Netz ist; oder lassen Sie diesen Server weg.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/local/fingerprint.py"/>
        <source>Check that the file is still there and that you may read it.</source>
        <translation>Prüfen Sie, ob die Datei noch da ist und Sie sie lesen dürfen.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>Check the address in HF_ENDPOINT.</source>
        <translation>Prüfen Sie die Adresse in HF_ENDPOINT.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>Check the clock of this computer; behind a company's proxy, install its certificate.</source>
        <translation>Prüfen Sie die Uhr dieses Computers; hinter dem Proxy einer Firma installieren Sie deren Zertifikat.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/inspect/inspector.py"/>
        <source>Check the disk that it lies on, or choose another one.</source>
        <translation>Prüfen Sie den Datenträger, auf dem sie liegt, oder wählen Sie eine andere.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/download/downloads.py"/>
        <source>Check the folder and its disk, then resume.</source>
        <translation>Prüfen Sie den Ordner und seinen Datenträger, und setzen Sie dann fort.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/rpc_servers.py"/>
        <source>Check the name, or give its IPv4 address.</source>
        <translation>Prüfen Sie den Namen, oder geben Sie die IPv4-Adresse an.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>Check the name; upper and lower case count.</source>
        <translation>Prüfen Sie den Namen; Groß- und Kleinschreibung zählt.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>Check the network connection and the proxy.</source>
        <translation>Prüfen Sie die Netzwerkverbindung und den Proxy.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>Check the network connection.</source>
        <translation>Prüfen Sie die Netzwerkverbindung.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/model_file.py"/>
        <source>Check the path, or choose another.</source>
        <translation>Prüfen Sie den Pfad, oder wählen Sie einen anderen.</translation>
    </message>
    <message>
        <location filename="../../app/chat/attachments.py"/>
        <location filename="../../app/gui/conversations/exchange.py"/>
        <source>Check who may read it.</source>
        <translation>Prüfen Sie, wer sie lesen darf.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/model_file.py"/>
        <source>Choose a .gguf file in it.</source>
        <translation>Wählen Sie eine .gguf-Datei darin.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/model_file.py"/>
        <source>Choose a .gguf file.</source>
        <translation>Wählen Sie eine .gguf-Datei.</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/reading.py"/>
        <source>Choose a chat that Paceline, llama.cpp's web page, LM Studio, ChatGPT, Open WebUI or SillyTavern exported.</source>
        <translation>Wählen Sie einen Chat, den Paceline, die Webseite von llama.cpp, LM Studio, ChatGPT, Open WebUI oder SillyTavern exportiert hat.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/draft_model.py"/>
        <source>Choose a draft model, or lookups, which need none.</source>
        <translation>Wählen Sie ein Entwurfsmodell, oder das Nachschlagen, das keines braucht.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/local/model_files.py"/>
        <source>Choose a file that ends in .gguf.</source>
        <translation>Wählen Sie eine Datei, die auf .gguf endet.</translation>
    </message>
    <message>
        <location filename="../../app/chat/presets.py"/>
        <source>Choose a file that was exported here.</source>
        <translation>Wählen Sie eine Datei, die hier exportiert wurde.</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/vocabulary.py"/>
        <source>Choose a file that was made for chatting.</source>
        <translation>Wählen Sie eine Datei, die zum Chatten gemacht ist.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/download/names.py"/>
        <source>Choose a file.</source>
        <translation>Wählen Sie eine Datei.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/fetching.py"/>
        <location filename="../../app/engine/model/model_file.py"/>
        <source>Choose a model in GGUF format; other formats must be converted first.</source>
        <translation>Wählen Sie ein Modell im GGUF-Format; andere Formate müssen erst umgewandelt werden.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/mtp.py"/>
        <source>Choose a model whose file has one, or name the file of its head; or take a strategy that needs none, such as prompt-lookup.</source>
        <translation>Wählen Sie ein Modell, dessen Datei einen hat, oder nennen Sie die Datei seines Kopfes; oder nehmen Sie eine Strategie, die keinen braucht, etwa prompt-lookup.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/sidecar.py"/>
        <source>Choose a model, or lookups, which need none.</source>
        <translation>Wählen Sie ein Modell, oder das Nachschlagen, das keines braucht.</translation>
    </message>
    <message>
        <location filename="../../app/hosting/exit_reasons.py"/>
        <source>Choose a shorter context or a smaller model, or close other programs.</source>
        <translation>Wählen Sie einen kürzeren Kontext oder ein kleineres Modell, oder schließen Sie andere Programme.</translation>
    </message>
    <message>
        <location filename="../../app/engine/refusals.py"/>
        <source>Choose a shorter context or a smaller model.</source>
        <translation>Wählen Sie einen kürzeren Kontext oder ein kleineres Modell.</translation>
    </message>
    <message>
        <location filename="../../app/gui/kit/file_dialogs.py"/>
        <source>Choose a shorter one.</source>
        <translation>Wählen Sie eine kürzere.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/memory/plan.py"/>
        <source>Choose a smaller draft model: one of {size:size} would fit.</source>
        <translation>Wählen Sie ein kleineres Entwurfsmodell: Eines mit {size:size} würde passen.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/placement.py"/>
        <source>Choose among {known}.</source>
        <translation>Wählen Sie unter {known}.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/placement.py"/>
        <source>Choose among {known}; or use the RPC server that lends it: by --rpc, or in the settings under “Other computers”.</source>
        <translation>Wählen Sie unter {known}; oder benutzen Sie den RPC-Server, der es verleiht: mit --rpc oder in den Einstellungen unter „Andere Computer“.</translation>
    </message>
    <message>
        <location filename="../../app/gui/bench/chart.py"/>
        <source>Choose another folder.</source>
        <translation>Wählen Sie einen anderen Ordner.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/inspect/child.py"/>
        <source>Choose another one.</source>
        <translation>Wählen Sie eine andere.</translation>
    </message>
    <message>
        <location filename="../../app/gui/kit/file_dialogs.py"/>
        <location filename="../../app/gui/state/speculation.py"/>
        <source>Choose another.</source>
        <translation>Wählen Sie eine andere.</translation>
    </message>
    <message>
        <location filename="../../app/chat/attachments.py"/>
        <source>Choose it again.</source>
        <translation>Wählen Sie sie noch einmal.</translation>
    </message>
    <message>
        <location filename="../../app/engine/refusals.py"/>
        <source>Choose one first, or load the demo pair.</source>
        <translation>Wählen Sie erst eines, oder laden Sie das Demo-Paar.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/registry.py"/>
        <location filename="../../app/parameters.py"/>
        <source>Choose one of {known}.</source>
        <translation>Wählen Sie eine von {known}.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/strategy.py"/>
        <source>Choose one of {options}.</source>
        <translation>Wählen Sie eine von {options}.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/model_params.py"/>
        <source>Choose other types for the cache or another setting of flash attention.</source>
        <translation>Wählen Sie andere Typen für den Cache oder eine andere Einstellung von Flash Attention.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/placement.py"/>
        <source>Choose some of them, or leave an RPC server out.</source>
        <translation>Wählen Sie einige davon aus oder lassen Sie einen RPC-Server weg.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/sidecar.py"/>
        <location filename="../../app/engine/llama/mtp_head.py"/>
        <source>Choose the file with the head that was made for this model, or none.</source>
        <translation>Wählen Sie die Datei mit dem Kopf, der für dieses Modell gemacht ist, oder keine.</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/backend.py"/>
        <source>Choose the first part, and leave all parts their names.</source>
        <translation>Wählen Sie den ersten Teil, und lassen Sie allen Teilen ihre Namen.</translation>
    </message>
    <message>
        <location filename="../../app/engine/opening.py"/>
        <source>Choose the head that was made for this model, or none.</source>
        <translation>Wählen Sie den Kopf, der für dieses Modell gemacht ist, oder keinen.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/placement.py"/>
        <source>Choose to split by layers, or leave it at auto.</source>
        <translation>Wählen Sie die Aufteilung nach Schichten, oder lassen Sie sie auf automatisch.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/model_params.py"/>
        <source>Choose {n_ctx_train:,} or less.</source>
        <translation>Wählen Sie {n_ctx_train:,} oder weniger.</translation>
    </message>
    <message>
        <location filename="../../app/storage/problems.py"/>
        <source>Close it. {kept}</source>
        <translation>Schließen Sie es. {kept}</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/draft_model.py"/>
        <source>Close other programs and load it again, or choose another draft model.</source>
        <translation>Schließen Sie andere Programme und laden Sie es neu, oder wählen Sie ein anderes Entwurfsmodell.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/inspect/inspector.py"/>
        <location filename="../../app/engine/prompt/renderer.py"/>
        <location filename="../../app/hosting/supervisor.py"/>
        <source>Close other programs and try again.</source>
        <translation>Schließen Sie andere Programme, und versuchen Sie es noch einmal.</translation>
    </message>
    <message>
        <location filename="../../app/installation/remedies.py"/>
        <source>Compile it again: `{command}`.</source>
        <translation>Kompilieren Sie sie neu: `{command}`.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Context</source>
        <translation>Kontext</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/client.py"/>
        <source>Copy it from the settings of your account on the Hub; it begins with “hf_”.</source>
        <translation>Kopieren Sie es aus den Einstellungen Ihres Kontos auf dem Hub; es beginnt mit „hf_“.</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/vocabulary.py"/>
        <source>Correct it; grammars/README.md of llama.cpp describes the notation.</source>
        <translation>Berichtigen Sie sie; grammars/README.md von llama.cpp beschreibt die Schreibweise.</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/vocabulary.py"/>
        <source>Correct or simplify it.</source>
        <translation>Berichtigen oder vereinfachen Sie es.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>Decoding one token takes {seconds:time} now.</source>
        <translation>Ein Token zu dekodieren dauert jetzt {seconds:time}.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/client.py"/>
        <source>Delete the file {path}.</source>
        <translation>Löschen Sie die Datei {path}.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <source>Different tokenizers, still usable: expect a gain where the text is predictable.</source>
        <translation>Andere Tokenizer, trotzdem brauchbar: ein Gewinn ist zu erwarten, wo der Text vorhersehbar ist.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/inspect/child.py"/>
        <location filename="../../app/catalog/inspect/inspector.py"/>
        <location filename="../../app/catalog/models.py"/>
        <location filename="../../app/engine/llama/gguf.py"/>
        <source>Download it again, or choose another one.</source>
        <translation>Laden Sie die Datei noch einmal herunter, oder wählen Sie eine andere.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/download/names.py"/>
        <source>Download it by other means under a name of your own, if you trust the repository.</source>
        <translation>Laden Sie sie auf anderem Weg unter eigenem Namen herunter, wenn Sie dem Repository vertrauen.</translation>
    </message>
    <message>
        <location filename="../../app/hosting/exit_reasons.py"/>
        <source>Download the file again or check the disk.</source>
        <translation>Laden Sie die Datei noch einmal herunter, oder prüfen Sie den Datenträger.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/download/names.py"/>
        <source>Download them into two folders.</source>
        <translation>Laden Sie sie in zwei Ordner herunter.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/draft_search.py"/>
        <source>Download {what} from {repo}, which was reported to draft for {title}; {checked}.</source>
        <translation>{what} von {repo} herunterladen, das nach einem Bericht für {title} entwirft; {checked}.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/draft_search.py"/>
        <source>Download “{name}” ({size:size}) from {repo}: it reads the same tokens.</source>
        <translation>„{name}“ ({size:size}) von {repo} herunterladen: Es liest dieselben Token.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/memory/plan.py"/>
        <source>Draft by lookups alone, without a draft model.</source>
        <translation>Nur durch Nachschlagen entwerfen, ohne Entwurfsmodell.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/memory/plan.py"/>
        <source>Draft by lookups alone, without the {head}.</source>
        <translation>Nur durch Nachschlagen entwerfen, ohne den {head}.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/sidecar.py"/>
        <source>Drafter of {model} ({title}); {use}.</source>
        <translation>Entwerfer von {model} ({title}); {use}.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>Drafting has cost {seconds:time} with these models so far.</source>
        <translation>Entwürfe haben mit diesen Modellen bisher {seconds:time} gekostet.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>Drafting has saved {seconds:time} with these models so far.</source>
        <translation>Entwürfe haben mit diesen Modellen bisher {seconds:time} gespart.</translation>
    </message>
    <message>
        <location filename="../../app/engine/sameness/promise.py"/>
        <source>Drafts end at {n} tokens.</source>
        <translation>Entwürfe enden bei {n} Token.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>Drafts may lose nothing more in this reply until they have won it back.</source>
        <translation>Entwürfe dürfen in dieser Antwort nichts mehr verlieren, bis sie es wieder hereingeholt haben.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>Drafts may still lose {seconds:time} in this reply; then Auto pauses them.</source>
        <translation>Entwürfe dürfen in dieser Antwort noch {seconds:time} verlieren; dann setzt Auto sie aus.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>Drafts paused: another wrong one would have cost more than they had saved.</source>
        <translation>Entwürfe pausierten: Noch ein falscher hätte mehr gekostet, als sie gespart hatten.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>Drafts paused: they did not pay.</source>
        <translation>Entwürfe pausierten: Sie haben sich nicht gelohnt.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>Drafts paused: with {names} it was {gain:.2f} times as fast as without.</source>
        <translation>Entwürfe pausierten: Mit {names} war es {gain:.2f}-mal so schnell wie ohne.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>Drafts paused: {names} did not pay.</source>
        <translation>Entwürfe pausierten: kein Gewinn mit {names}.</translation>
    </message>
    <message>
        <location filename="../../app/server/port.py"/>
        <source>End that program, or choose another port.</source>
        <translation>Beenden Sie dieses Programm oder wählen Sie einen anderen Port.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/model_params.py"/>
        <source>Every device's share of the model is 0.</source>
        <translation>Der Anteil jedes Geräts am Modell ist 0.</translation>
    </message>
    <message>
        <location filename="../../app/engine/sample/drawing.py"/>
        <source>Every token is forbidden, so nothing can be written.</source>
        <translation>Jedes Token ist verboten, darum kann nichts geschrieben werden.</translation>
    </message>
    <message>
        <location filename="../../app/engine/sameness/promise.py"/>
        <source>Exact mode goes on with other batch widths from the next reply on, since rows of logits were seen to differ at the present ones.</source>
        <translation>Der exakte Modus geht ab der nächsten Antwort mit anderen Batch-Breiten weiter, weil sich bei den jetzigen Zeilen von Logits unterschieden haben.</translation>
    </message>
    <message>
        <location filename="../../app/engine/sameness/promise.py"/>
        <source>Exact mode is not possible here: no batch widths were found at which this device computes the same numbers, so replies may differ in near-ties.</source>
        <translation>Der exakte Modus ist hier nicht möglich: Es wurden keine Batch-Breiten gefunden, bei denen dieses Gerät dieselben Zahlen berechnet, darum können sich Antworten in knappen Fällen unterscheiden.</translation>
    </message>
    <message>
        <location filename="../../app/engine/opening.py"/>
        <source>Exact mode is not possible with a memory that overwrites what is far back.</source>
        <translation>Der exakte Modus ist mit einem Speicher, der weit Zurückliegendes überschreibt, nicht möglich.</translation>
    </message>
    <message>
        <location filename="../../app/engine/sameness/promise.py"/>
        <source>Exact mode: a reply is the same with any strategy and whatever was in the context before{looked}{rows}.</source>
        <translation>Exakter Modus: Eine Antwort ist dieselbe mit jeder Strategie und gleich, was vorher im Kontext war{looked}{rows}.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <source>Expect a clear gain on code and other predictable text, less on free prose.</source>
        <translation>Erwarten Sie einen deutlichen Gewinn bei Code und anderem vorhersagbaren Text, weniger bei freier Prosa.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <source>Expect a gain on code and other predictable text, little on free prose.</source>
        <translation>Erwarten Sie einen Gewinn bei Code und anderem vorhersagbaren Text, wenig bei freier Prosa.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <source>Expect less than with a dense model, and most on code and other predictable text.</source>
        <translation>Zu erwarten ist weniger als mit einem dichten Modell, am meisten bei Code und anderem vorhersehbaren Text.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <source>Expect little on a GPU, where so small a model is fast by itself; on a CPU it may pay.</source>
        <translation>Auf einer GPU ist wenig zu erwarten, wo ein so kleines Modell von selbst schnell ist; auf einer CPU kann es sich lohnen.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <source>Expect little: the draft model is too large beside the main model.</source>
        <translation>Wenig zu erwarten: Das Entwurfsmodell ist neben dem Hauptmodell zu groß.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <source>Expect little: with small models and mixtures of experts heads seldom pay.</source>
        <translation>Wenig zu erwarten: Bei kleinen Modellen und Expertenmischungen lohnen sich Köpfe selten.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <source>Expect replies to become slower.</source>
        <translation>Rechnen Sie damit, dass Antworten langsamer werden.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Experts on CPU</source>
        <translation>Experten auf der CPU</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/reading.py"/>
        <source>Export fewer chats at a time.</source>
        <translation>Exportieren Sie weniger Chats auf einmal.</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/chat_json.py"/>
        <source>Export it again from where it is whole.</source>
        <translation>Exportieren Sie ihn noch einmal dort, wo er heil ist.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>Faster alone here: drafts take more time than they save.</source>
        <translation>Allein schneller: Entwürfe kosten hier mehr Zeit, als sie sparen.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>Faster alone here: one guess brings {right:.2f} right ones; in that time the model writes {alone:.2f}.</source>
        <translation>Allein schneller: Eine Vermutung bringt {right:.2f} richtige, derweil schreibt das Modell {alone:.2f}.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>Faster alone here: {n} guesses bring {right:.2f} right ones; in that time the model writes {alone:.2f}.</source>
        <translation>Allein schneller: {n} Vermutungen bringen {right:.2f} richtige, derweil schreibt das Modell {alone:.2f}.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Flash attention</source>
        <translation>Flash Attention</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Frequency penalty</source>
        <translation>Häufigkeitsstrafe</translation>
    </message>
    <message>
        <location filename="../../app/resources/curated_pairs.json"/>
        <source>From 2.2 to 3.5 tokens/s on a Radeon 890M, with a draft of another quantisation</source>
        <translation>Von 2,2 auf 3,5 Token/s auf einer Radeon 890M, mit einem Entwurf anderer Quantisierung</translation>
    </message>
    <message>
        <location filename="../../app/resources/curated_pairs.json"/>
        <source>From 32.5 to 55.5 tokens/s, 1.71 times as fast, on an RTX 3060 (both Q8_0), one run</source>
        <translation>Von 32,5 auf 55,5 Token/s, 1,71-mal so schnell, auf einer RTX 3060 (beide Q8_0), eine Messung</translation>
    </message>
    <message>
        <location filename="../../app/resources/curated_pairs.json"/>
        <source>From 4.4 to between 5 and 9 tokens/s on a Radeon 890M, with a draft of another quantisation</source>
        <translation>Von 4,4 auf zwischen 5 und 9 Token/s auf einer Radeon 890M, mit einem Entwurf anderer Quantisierung</translation>
    </message>
    <message>
        <location filename="../../app/resources/curated_pairs.json"/>
        <source>From about 50 to 110 tokens/s on a Radeon RX 7900 XTX, one report</source>
        <translation>Von etwa 50 auf 110 Token/s auf einer Radeon RX 7900 XTX, ein Bericht</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>GPU layers</source>
        <translation>GPU-Schichten</translation>
    </message>
    <message>
        <location filename="../../app/engine/request.py"/>
        <source>Generate it again, or ask for the rest in a message.</source>
        <translation>Erzeugen Sie sie neu, oder bitten Sie in einer Nachricht um den Rest.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/model_params.py"/>
        <source>Give 0 to {most:,.0f}.</source>
        <translation>Geben Sie 0 bis {most:,.0f} an.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>Give Paceline your access token, or set HF_TOKEN.</source>
        <translation>Geben Sie Paceline Ihr Zugriffstoken, oder setzen Sie HF_TOKEN.</translation>
    </message>
    <message>
        <location filename="../../app/engine/sample/sampling.py"/>
        <source>Give a number between -1,000,000 and 1,000,000, or -inf to forbid the token.</source>
        <translation>Geben Sie eine Zahl zwischen -1.000.000 und 1.000.000 an, oder -inf, um das Token zu verbieten.</translation>
    </message>
    <message>
        <location filename="../../app/server/port.py"/>
        <source>Give an address of this computer and a port that may be used.</source>
        <translation>Geben Sie eine Adresse dieses Rechners an und einen Port, der benutzt werden darf.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/download/names.py"/>
        <source>Give another folder.</source>
        <translation>Geben Sie einen anderen Ordner an.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/model_params.py"/>
        <source>Give at least one share above 0.</source>
        <translation>Geben Sie mindestens einen Anteil über 0 an.</translation>
    </message>
    <message>
        <location filename="../../app/chat/presets.py"/>
        <location filename="../../app/engine/sample/sampling.py"/>
        <source>Give at most {most}.</source>
        <translation>Geben Sie höchstens {most} an.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/translation.py"/>
        <source>Give both.</source>
        <translation>Geben Sie beide an.</translation>
    </message>
    <message>
        <location filename="../../app/chat/presets.py"/>
        <source>Give each stop string once.</source>
        <translation>Geben Sie jeden Stopptext nur einmal an.</translation>
    </message>
    <message>
        <location filename="../../app/engine/sample/sampling.py"/>
        <source>Give ids from 0 on.</source>
        <translation>Geben Sie Nummern ab 0 an.</translation>
    </message>
    <message>
        <location filename="../../app/engine/request.py"/>
        <location filename="../../app/engine/sample/sampling.py"/>
        <source>Give ids from 0 to {last}.</source>
        <translation>Geben Sie Nummern von 0 bis {last} an.</translation>
    </message>
    <message>
        <location filename="../../app/bench/plan.py"/>
        <location filename="../../app/engine/draft/strategy.py"/>
        <source>Give it once.</source>
        <translation>Geben Sie sie einmal an.</translation>
    </message>
    <message>
        <location filename="../../app/chat/presets.py"/>
        <location filename="../../app/engine/sample/sampling.py"/>
        <source>Give it one.</source>
        <translation>Geben Sie ihr einen.</translation>
    </message>
    <message>
        <location filename="../../app/chat/presets.py"/>
        <location filename="../../app/engine/request.py"/>
        <source>Give one of them.</source>
        <translation>Geben Sie eines davon an.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/placement.py"/>
        <source>Give one share per device.</source>
        <translation>Geben Sie einen Anteil je Gerät an.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/client.py"/>
        <source>Give one such as https://huggingface.co.</source>
        <translation>Geben Sie eine an wie https://huggingface.co.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/grammar_drafter.py"/>
        <source>Give one.</source>
        <translation>Geben Sie eine an.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>Give the address of an HTTP proxy in the settings.</source>
        <translation>Geben Sie in den Einstellungen die Adresse eines HTTP-Proxys an.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>Give the address of an HTTP proxy in these variables, or unset them.</source>
        <translation>Geben Sie in diesen Variablen die Adresse eines HTTP-Proxys an, oder löschen Sie sie.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/rpc_servers.py"/>
        <source>Give the computer's name or IPv4 address and the port, such as 192.168.1.5:{port}.</source>
        <translation>Geben Sie den Namen oder die IPv4-Adresse des Computers und den Port an, etwa 192.168.1.5:{port}.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/memory/plan.py"/>
        <source>Give the draft model a context of {n_ctx:,} tokens; of longer chats it knows the end alone.</source>
        <translation>Geben Sie dem Entwurfsmodell einen Kontext von {n_ctx:,} Token; von längeren Chats kennt es nur das Ende.</translation>
    </message>
    <message>
        <location filename="../../app/bench/verdict.py"/>
        <source>Guessing does not pay with this pair: nothing is faster than it alone.</source>
        <translation>Raten lohnt sich mit diesem Paar nicht: Nichts ist schneller als das Modell allein.</translation>
    </message>
    <message>
        <location filename="../../app/bench/verdict.py"/>
        <source>Guessing does not pay with this pair: the best, {name}, gives {ratio:ratio}.</source>
        <translation>Raten lohnt sich mit diesem Paar nicht: Das Beste, {name}, bringt {ratio:ratio}.</translation>
    </message>
    <message>
        <location filename="../../app/chat/advice.py"/>
        <source>Guessing gains nothing with this model here: checking several tokens at once takes as long as writing them one by one.</source>
        <translation>Raten bringt mit diesem Modell hier nichts: Mehrere Token auf einmal zu prüfen dauert so lange, wie sie einzeln zu schreiben.</translation>
    </message>
    <message>
        <location filename="../../app/chat/presets.py"/>
        <source>If a newer Paceline exported it, install that; otherwise take the field out.</source>
        <translation>Wenn ein neueres Paceline sie exportiert hat, installieren Sie dieses; sonst nehmen Sie das Feld heraus.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>In short</source>
        <translation>Kurz gesagt</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/hidden_rows.py"/>
        <source>Install Paceline again, or choose another strategy.</source>
        <translation>Installieren Sie Paceline neu, oder wählen Sie eine andere Strategie.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/curated.py"/>
        <source>Install Paceline again, or correct the file.</source>
        <translation>Installieren Sie Paceline neu, oder berichtigen Sie die Datei.</translation>
    </message>
    <message>
        <location filename="../../app/chat/recording.py"/>
        <location filename="../../app/installation/remedies.py"/>
        <source>Install Paceline again.</source>
        <translation>Installieren Sie Paceline neu.</translation>
    </message>
    <message>
        <location filename="../../app/installation/remedies.py"/>
        <source>Install a build of llama-cpp-python that was made on this computer.</source>
        <translation>Installieren Sie einen Bau von llama-cpp-python, der auf diesem Computer gemacht wurde.</translation>
    </message>
    <message>
        <location filename="../../app/installation/remedies.py"/>
        <source>Install a build of llama.cpp for your GPU.</source>
        <translation>Installieren Sie einen Build von llama.cpp für Ihre GPU.</translation>
    </message>
    <message>
        <location filename="../../app/installation/remedies.py"/>
        <source>Install a newer version of Paceline or llama-cpp-python.</source>
        <translation>Installieren Sie eine neuere Version von Paceline oder llama-cpp-python.</translation>
    </message>
    <message>
        <location filename="../../app/installation/remedies.py"/>
        <source>Install a newer version of Paceline.</source>
        <translation>Installieren Sie eine neuere Version von Paceline.</translation>
    </message>
    <message>
        <location filename="../../app/paths.py"/>
        <source>Install it again.</source>
        <translation>Installieren Sie es neu.</translation>
    </message>
    <message>
        <location filename="../../app/installation/remedies.py"/>
        <source>Install it again: `{command}`.</source>
        <translation>Installieren Sie es neu: `{command}`.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/registry.py"/>
        <source>Install it, or choose another strategy.</source>
        <translation>Installieren Sie es, oder wählen Sie eine andere Strategie.</translation>
    </message>
    <message>
        <location filename="../../app/installation/remedies.py"/>
        <source>Install it: `{command}`.</source>
        <translation>Installieren Sie es: `{command}`.</translation>
    </message>
    <message>
        <location filename="../../app/installation/remedies.py"/>
        <source>Install the Vulkan part of NVIDIA's driver and the system's libvulkan, which is the package libvulkan1 in Debian and Ubuntu.</source>
        <translation>Installieren Sie den Vulkan-Teil von NVIDIAs Treiber und die Bibliothek libvulkan des Systems, in Debian und Ubuntu das Paket libvulkan1.</translation>
    </message>
    <message>
        <location filename="../../app/installation/remedies.py"/>
        <source>Install the driver of your GPU, with its part for Vulkan.</source>
        <translation>Installieren Sie den Treiber Ihrer GPU mit seinem Teil für Vulkan.</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/chat_json.py"/>
        <source>Install the newest version and import it there.</source>
        <translation>Installieren Sie die neueste Version, und importieren Sie ihn dort.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/rpc_servers.py"/>
        <source>Install the same version of Paceline there; or leave this server out.</source>
        <translation>Installieren Sie dort dieselbe Version von Paceline; oder lassen Sie diesen Server weg.</translation>
    </message>
    <message>
        <location filename="../../app/installation/remedies.py"/>
        <source>Install the system's libraries for Qt, on Debian or Ubuntu by `sudo apt-get install {packages}`; meanwhile `paceline chat` works without a window.</source>
        <translation>Installieren Sie die Bibliotheken des Systems für Qt, unter Debian oder Ubuntu mit `sudo apt-get install {packages}`; bis dahin geht `paceline chat` ohne Fenster.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/local/library.py"/>
        <source>It belongs to a model, as an adapter or a projector does, and is none itself.</source>
        <translation>Sie gehört zu einem Modell, wie ein Adapter oder ein Projektor, und ist selbst keines.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/local/library.py"/>
        <source>It cannot be read with your permissions.</source>
        <translation>Sie kann mit Ihren Rechten nicht gelesen werden.</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/reading.py"/>
        <source>It has no text to import.</source>
        <translation>Er enthält keinen Text, der importiert werden kann.</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/template.py"/>
        <source>It has {choices}.</source>
        <translation>Sie hat {choices}.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/local/library.py"/>
        <source>It holds a vocabulary and no weights.</source>
        <translation>Sie enthält ein Vokabular und keine Gewichte.</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/reading.py"/>
        <source>It is JSON, but no chat.</source>
        <translation>Es ist JSON, aber kein Chat.</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/reading.py"/>
        <source>It is JSON, but {place} is no chat.</source>
        <translation>Es ist JSON, aber {place} ist kein Chat.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/local/library.py"/>
        <source>It is incomplete: {here} of {whole:size} are here.</source>
        <translation>Sie ist unvollständig: {here} von {whole:size} sind da.</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/reading.py"/>
        <source>It is nested too deeply.</source>
        <translation>Er ist zu tief verschachtelt.</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/reading.py"/>
        <source>It is not JSON (line {n}).</source>
        <translation>Es ist kein JSON (Zeile {n}).</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/reading.py"/>
        <source>It is not JSON.</source>
        <translation>Es ist kein JSON.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>It pauses because it did not pay of late; it is tried again.</source>
        <translation>Pausiert, weil es sich zuletzt nicht gelohnt hat; wird wieder versucht.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>It pauses because its steps gave {gain:ratio} of the speed alone; it is tried again.</source>
        <translation>Er pausiert, weil seine Schritte nur {gain:ratio} des Tempos allein brachten; er wird wieder versucht.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/rpc_servers.py"/>
        <source>It serves one program at a time: close the one that uses it, or look whether it still runs; or leave this server out.</source>
        <translation>Er bedient immer nur ein Programm: Schließen Sie das, das ihn benutzt, oder sehen Sie nach, ob er noch läuft; oder lassen Sie diesen Server weg.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/strategy.py"/>
        <source>It stands alone, and uses every drafter that pays.</source>
        <translation>Es steht allein und verwendet jeden Entwerfer, der sich lohnt.</translation>
    </message>
    <message>
        <location filename="../../app/hosting/exit_reasons.py"/>
        <source>It starts again with the next message.</source>
        <translation>Sie startet mit der nächsten Nachricht wieder.</translation>
    </message>
    <message>
        <location filename="../../app/hosting/threaded.py"/>
        <source>It starts again with the next message; the log tells more.</source>
        <translation>Mit der nächsten Nachricht startet sie wieder; das Protokoll sagt mehr.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/strategy.py"/>
        <source>It takes {known} (key=value).</source>
        <translation>Möglich sind {known} (Name=Wert).</translation>
    </message>
    <message>
        <location filename="../../app/catalog/download/transfer.py"/>
        <source>It was not downloaded. Try again later, or choose another model.</source>
        <translation>Sie wurde nicht heruntergeladen. Versuchen Sie es später noch einmal, oder wählen Sie ein anderes Modell.</translation>
    </message>
    <message>
        <location filename="../../app/chat/sameness.py"/>
        <source>It was not kept which model wrote this reply.</source>
        <translation>Es wurde nicht festgehalten, welches Modell diese Antwort geschrieben hat.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/states.py"/>
        <source>Its layers keep no more than their sliding windows: drafts can be taken back, but what is far back is read again, and the same text is not promised.</source>
        <translation>Seine Schichten behalten nicht mehr als ihre gleitenden Fenster: Entwürfe können zurückgenommen werden, aber weit Zurückliegendes wird neu gelesen, und derselbe Text wird nicht versprochen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>K cache</source>
        <translation>K-Cache</translation>
    </message>
    <message>
        <location filename="../../app/catalog/memory/plan.py"/>
        <source>Keep no more than their window in the model's layers that have one: {saved:size} less. A change far back in a long chat then reads the prompt again, and the same text with any strategy is not promised.</source>
        <translation>In den Schichten des Modells, die eines haben, nicht mehr als ihr Fenster behalten: {saved:size} weniger. Eine Änderung weit vorn in einem langen Chat liest den Prompt dann neu, und derselbe Text mit jeder Strategie wird nicht versprochen.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/strategy.py"/>
        <source>Keep one of them.</source>
        <translation>Behalten Sie einen davon.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/memory/plan.py"/>
        <source>Keep the draft model in the CPU's memory.</source>
        <translation>Das Entwurfsmodell im Speicher der CPU halten.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/memory/plan.py"/>
        <source>Keep the draft model's cache in {quantised}. On a processor it then reads long prompts about three times slower.</source>
        <translation>Den Cache des Entwurfsmodells in {quantised} halten. Auf einem Prozessor liest es lange Prompts dann etwa dreimal so langsam.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/placement.py"/>
        <source>Leave GPU layers at auto. {gpu}</source>
        <translation>Lassen Sie die GPU-Schichten auf auto. {gpu}</translation>
    </message>
    <message>
        <location filename="../../app/chat/presets.py"/>
        <location filename="../../app/engine/draft/strategy.py"/>
        <source>Leave it out.</source>
        <translation>Lassen Sie es weg.</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/rpc_server.py"/>
        <source>Leave it out; then all that is free is lent.</source>
        <translation>Lassen Sie es weg; dann wird aller freie Speicher verliehen.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/placement.py"/>
        <source>Leave split mode, shares and main device alone. {gpu}</source>
        <translation>Lassen Sie Aufteilung, Anteile und Hauptgerät, wie sie sind. {gpu}</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/template.py"/>
        <source>Leave that to the model.</source>
        <translation>Überlassen Sie das dem Modell.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/client.py"/>
        <source>Leave them out.</source>
        <translation>Lassen Sie sie weg.</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/template.py"/>
        <source>Let user and assistant alternate. {other}</source>
        <translation>Lassen Sie Nutzer und Assistent abwechseln. {other}</translation>
    </message>
    <message>
        <location filename="../../app/server/unchanged.py"/>
        <source>Line {line} of the system prompt was taken as unchanged: the model was given “{first}”.</source>
        <translation>Zeile {line} des Systemprompts gilt als unverändert: Das Modell bekam „{first}“.</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/reading.py"/>
        <source>Line {n} is neither the beginning of a chat nor a message of the one before it.</source>
        <translation>Zeile {n} ist weder der Anfang eines Chats noch eine Nachricht des Chats davor.</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/programs/silly_tavern.py"/>
        <source>Line {n} is no message.</source>
        <translation>Zeile {n} ist keine Nachricht.</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/reading.py"/>
        <source>Line {n} is not JSON.</source>
        <translation>Zeile {n} ist kein JSON.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>Little to copy from so far.</source>
        <translation>Bisher gibt es wenig, woraus sich abschreiben ließe.</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/infill.py"/>
        <source>Load a model that was trained for it, as most base models for code were.</source>
        <translation>Laden Sie ein Modell, das dafür trainiert wurde, wie die meisten Basismodelle für Code.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/sidecar.py"/>
        <source>Load it together with its model: in the list of draft models, or by --{option} FILE.</source>
        <translation>Laden Sie ihn zusammen mit seinem Modell: in der Liste der Entwurfsmodelle oder mit --{option} DATEI.</translation>
    </message>
    <message>
        <location filename="../../app/engine/refusals.py"/>
        <source>Load one to see its prompts.</source>
        <translation>Laden Sie eines, um seine Prompts zu sehen.</translation>
    </message>
    <message>
        <location filename="../../app/chat/sameness.py"/>
        <source>Load that one, then verify again.</source>
        <translation>Laden Sie jenes, und prüfen Sie dann noch einmal.</translation>
    </message>
    <message>
        <location filename="../../app/chat/sameness.py"/>
        <source>Load the model with the context that the reply had.</source>
        <translation>Laden Sie das Modell mit dem Kontext, den die Antwort hatte.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/model_file.py"/>
        <source>Load the models again, from where they are now.</source>
        <translation>Laden Sie die Modelle noch einmal, von dort, wo sie jetzt sind.</translation>
    </message>
    <message>
        <location filename="../../app/bench/runner.py"/>
        <source>Load the models again.</source>
        <translation>Laden Sie die Modelle noch einmal.</translation>
    </message>
    <message>
        <location filename="../../app/chat/sameness.py"/>
        <source>Load the reply's pair first.</source>
        <translation>Laden Sie erst das Paar der Antwort.</translation>
    </message>
    <message>
        <location filename="../../app/engine/turn.py"/>
        <source>Load them again.</source>
        <translation>Laden Sie sie neu.</translation>
    </message>
    <message>
        <location filename="../../app/bench/runner.py"/>
        <source>Load them, and begin again.</source>
        <translation>Laden Sie sie, und beginnen Sie von vorn.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>Log in to the network if it asks for that, or check the address in HF_ENDPOINT.</source>
        <translation>Melden Sie sich im Netzwerk an, wenn es das verlangt, oder prüfen Sie die Adresse in HF_ENDPOINT.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Longest reply</source>
        <translation>Längste Antwort</translation>
    </message>
    <message>
        <location filename="../../app/logs.py"/>
        <source>Look at who owns the file, or delete it.</source>
        <translation>Prüfen Sie, wem die Datei gehört, oder löschen Sie sie.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/heads.py"/>
        <source>MTP assistant</source>
        <translation>MTP-Assistent</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/heads.py"/>
        <source>MTP head</source>
        <translation>MTP-Kopf</translation>
    </message>
    <message>
        <location filename="../../app/catalog/sidecar.py"/>
        <source>MTP head inside</source>
        <translation>MTP-Kopf in der Datei</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Main device</source>
        <translation>Hauptgerät</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>Make a new token with read access in the settings of your account there.</source>
        <translation>Erstellen Sie in den Einstellungen Ihres Kontos dort ein neues Token mit Leserecht.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/lookups/lookup_cache.py"/>
        <source>Make both anew by `paceline cache build`, or delete it if you know that they fit.</source>
        <translation>Erzeugen Sie beide neu mit `paceline cache build`, oder löschen Sie sie, wenn Sie wissen, dass sie passen.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/lookups/lookup_cache.py"/>
        <source>Make it anew by `paceline cache build`.</source>
        <translation>Erzeugen Sie ihn neu mit `paceline cache build`.</translation>
    </message>
    <message>
        <location filename="../../app/storage/problems.py"/>
        <source>Make room on that disk. {kept}</source>
        <translation>Schaffen Sie Platz auf jenem Datenträger. {kept}</translation>
    </message>
    <message>
        <location filename="../../app/catalog/fetching.py"/>
        <source>Make room on the disk, or set PACELINE_HOME to another one.</source>
        <translation>Schaffen Sie Platz auf dem Datenträger, oder setzen Sie PACELINE_HOME auf einen anderen.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/download/transfer.py"/>
        <source>Make room or choose a folder on another disk, then resume.</source>
        <translation>Schaffen Sie Platz, oder wählen Sie einen Ordner auf einem anderen Datenträger, und setzen Sie dann fort.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/download/downloads.py"/>
        <source>Make room there and resume; what has arrived is kept.</source>
        <translation>Schaffen Sie dort Platz, und setzen Sie fort; was angekommen ist, bleibt erhalten.</translation>
    </message>
    <message>
        <location filename="../../app/storage/problems.py"/>
        <source>Make {needed:size} free on that disk. Until then, the chats can be read. {kept}</source>
        <translation>Machen Sie auf diesem Datenträger {needed:size} frei. Bis dahin sind die Chats lesbar. {kept}</translation>
    </message>
    <message>
        <location filename="../../app/engine/decode/decoder.py"/>
        <source>Memory is short, so the reply goes on plainly and in a context of {n_ctx:,} tokens.</source>
        <translation>Der Speicher ist knapp, darum geht die Antwort ohne Entwürfe und in einem Kontext von {n_ctx:,} Token weiter.</translation>
    </message>
    <message>
        <location filename="../../app/engine/decode/decoder.py"/>
        <source>Memory is short, so the reply goes on plainly.</source>
        <translation>Der Speicher ist knapp, darum geht die Antwort ohne Entwürfe weiter.</translation>
    </message>
    <message>
        <location filename="../../app/engine/decode/decoder.py"/>
        <source>Memory ran out in mid-reply. {message}</source>
        <translation>Mitten in der Antwort ging der Speicher aus. {message}</translation>
    </message>
    <message>
        <location filename="../../app/hosting/exit_reasons.py"/>
        <source>Memory ran out, and {what}.</source>
        <translation>Der Speicher ging aus, und {what}.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Min-p</source>
        <translation>Min-p</translation>
    </message>
    <message>
        <location filename="../../app/chat/comparison.py"/>
        <source>Models are being loaded.</source>
        <translation>Modelle werden geladen.</translation>
    </message>
    <message>
        <location filename="../../app/resources/curated_pairs.json"/>
        <source>More than twice as fast on average on a DGX Spark</source>
        <translation>Im Mittel mehr als doppelt so schnell auf einem DGX Spark</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/placement.py"/>
        <source>Name each device once.</source>
        <translation>Nennen Sie jedes Gerät nur einmal.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/rpc_servers.py"/>
        <source>Name each server once.</source>
        <translation>Nennen Sie jeden Server nur einmal.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/strategy.py"/>
        <source>Name it once.</source>
        <translation>Nennen Sie ihn nur einmal.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/strategy.py"/>
        <source>Name one on either side of every “+”.</source>
        <translation>Nennen Sie auf jeder Seite jedes „+“ einen.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/rpc_servers.py"/>
        <source>No RPC server listens at {server}.</source>
        <translation>Unter {server} ist kein RPC-Server erreichbar.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/strategy.py"/>
        <source>No draft could ever be long enough: lower n_min or raise n_max.</source>
        <translation>Kein Entwurf könnte je lang genug sein: Verringern Sie n_min oder erhöhen Sie n_max.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>No drafts for now: one more wrong draft would cost more time than drafts have saved.</source>
        <translation>Vorerst keine Entwürfe: Noch ein falscher würde mehr Zeit kosten, als Entwürfe gespart haben.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>No drafts for now: they did not pay of late.</source>
        <translation>Vorerst keine Entwürfe: Sie haben sich zuletzt nicht gelohnt.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>No drafts for now: they would take more time than they save.</source>
        <translation>Vorerst keine Entwürfe: Sie würden mehr Zeit kosten, als sie sparen.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>No drafts for now: with {names} it was {gain:.2f} times as fast as without.</source>
        <translation>Vorerst keine Entwürfe: Mit {names} war es {gain:.2f}-mal so schnell wie ohne.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>No drafts for now: {names} did not pay of late.</source>
        <translation>Vorerst keine Entwürfe: zuletzt ohne Gewinn mit {names}.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/download/names.py"/>
        <source>No file was named for the download.</source>
        <translation>Für den Download wurde keine Datei genannt.</translation>
    </message>
    <message>
        <location filename="../../app/chat/comparison.py"/>
        <location filename="../../app/chat/reply_runner.py"/>
        <location filename="../../app/chat/sameness.py"/>
        <location filename="../../app/engine/refusals.py"/>
        <source>No model is loaded.</source>
        <translation>Kein Modell ist geladen.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/registry.py"/>
        <source>No plug-in called “{name}” is installed.</source>
        <translation>Kein Plug-in namens „{name}“ ist installiert.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/translation.py"/>
        <source>No token of the draft model can follow here.</source>
        <translation>Kein Token des Entwurfsmodells kann hier folgen.</translation>
    </message>
    <message>
        <location filename="../../app/chat/sameness.py"/>
        <source>No tokens of this reply were kept.</source>
        <translation>Von dieser Antwort wurden keine Token festgehalten.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>Not used so far: {names}.</source>
        <translation>Bisher nicht benutzt: {names}.</translation>
    </message>
    <message>
        <location filename="../../app/server/port.py"/>
        <source>Nothing can listen at {host}, port {port} ({reason}).</source>
        <translation>An {host}, Port {port}, kann nichts lauschen ({reason}).</translation>
    </message>
    <message>
        <location filename="../../app/bench/verdict.py"/>
        <source>Nothing has been measured yet.</source>
        <translation>Noch wurde nichts gemessen.</translation>
    </message>
    <message>
        <location filename="../../app/hosting/supervisor.py"/>
        <source>Nothing has moved in the engine for {stuck_s:.0f} seconds</source>
        <translation>Seit {stuck_s:.0f} Sekunden hat sich in der Engine nichts bewegt</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>Nothing to copy from yet.</source>
        <translation>Noch ist nichts da, was sich abschreiben ließe.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/inspect/child.py"/>
        <source>Of a split model choose the first part, else another file.</source>
        <translation>Von einem geteilten Modell wählen Sie den ersten Teil, sonst eine andere Datei.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/memory_hints.py"/>
        <source>On a processor a quantised cache makes long prompts slower to read: 2,400 tokens take about three times as long with q8_0, and four to seven times with fewer bits.</source>
        <translation>Auf einem Prozessor werden lange Prompts mit einem quantisierten Cache langsamer gelesen: 2.400 Token dauern mit q8_0 etwa dreimal so lange, mit weniger Bits vier- bis siebenmal.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <source>On a processor, checking several tokens in {quantisation} costs about as much as writing them one by one; it costs least in Q4_0, IQ4_NL, Q4_K and Q8_0.</source>
        <translation>Auf einem Prozessor kostet das Prüfen mehrerer Token in {quantisation} etwa so viel, wie sie einzeln zu schreiben; am wenigsten kostet es in Q4_0, IQ4_NL, Q4_K und Q8_0.</translation>
    </message>
    <message>
        <location filename="../../app/engine/sameness/promise.py"/>
        <source>Once enough rows were compared, fewer may do, with the same text.</source>
        <translation>Sobald genug Zeilen verglichen sind, genügen vielleicht weniger, bei gleichem Text.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/strategy.py"/>
        <source>One model can draft, and the chain has more: {models}.</source>
        <translation>Nur ein Modell kann entwerfen, und die Kette hat mehr: {models}.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/local/model_files.py"/>
        <source>Only {n_here} of its {n_parts} parts are here; “{gone}” and {more} more are missing.</source>
        <translation>Nur {n_here} ihrer {n_parts} Teile sind da; „{gone}“ und {more} weitere fehlen.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/local/model_files.py"/>
        <source>Only {n_here} of its {n_parts} parts are here; “{gone}” is missing.</source>
        <translation>Nur {n_here} ihrer {n_parts} Teile sind da; „{gone}“ fehlt.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/local/model_files.py"/>
        <source>Only {n} of its {n_parts} parts are here.</source>
        <translation>Nur {n} ihrer {n_parts} Teile sind da.</translation>
    </message>
    <message>
        <location filename="../../app/chat/reply_runner.py"/>
        <source>Open one in the Models menu.</source>
        <translation>Öffnen Sie eines im Menü „Modelle“.</translation>
    </message>
    <message>
        <location filename="../../app/chat/sameness.py"/>
        <source>Other models are being loaded, so the check gave way.</source>
        <translation>Andere Modelle werden geladen, darum wurde die Prüfung abgebrochen.</translation>
    </message>
    <message>
        <location filename="../../app/run_record.py"/>
        <source>Paceline ended while this reply was being written.</source>
        <translation>Paceline wurde beendet, während diese Antwort geschrieben wurde.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>Paceline is offline, so the Hub is not asked.</source>
        <translation>Paceline ist offline, darum wird der Hub nicht gefragt.</translation>
    </message>
    <message>
        <location filename="../../app/run_record.py"/>
        <source>Paceline was closed while this reply was being written.</source>
        <translation>Paceline wurde geschlossen, während diese Antwort geschrieben wurde.</translation>
    </message>
    <message>
        <location filename="../../app/engine/opening.py"/>
        <source>Paceline's kernels compute the {n} of {n_layers} layers that stay on the processor; the others are computed by {names}.</source>
        <translation>Die Kernel von Paceline berechnen die {n} von {n_layers} Schichten, die auf dem Prozessor bleiben; die anderen liegen auf {names}.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/own_kernels.py"/>
        <source>Paceline's own CPU kernels cannot be used: {why}.</source>
        <translation>Pacelines eigene CPU-Kernel können nicht benutzt werden: {why}.</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/kernels.py"/>
        <source>Paceline's own CPU kernels cannot be used: {why}; llama.cpp's compute.</source>
        <translation>Pacelines eigene CPU-Kernel können nicht benutzt werden: {why}; die von llama.cpp rechnen.</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/kernels.py"/>
        <source>Paceline's own CPU kernels that failed their test here are left out: {refused}. {again}</source>
        <translation>Pacelines eigene CPU-Kernel, die ihren Test hier nicht bestanden haben, werden ausgelassen: {refused}. {again}</translation>
    </message>
    <message>
        <location filename="../../app/chat/attachments.py"/>
        <source>Paste the part that matters.</source>
        <translation>Fügen Sie den Teil ein, auf den es ankommt.</translation>
    </message>
    <message>
        <location filename="../../app/server/port.py"/>
        <source>Port {port} is in use by another program.</source>
        <translation>Port {port} wird von einem anderen Programm benutzt.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Presence penalty</source>
        <translation>Präsenzstrafe</translation>
    </message>
    <message>
        <location filename="../../app/chat/presets.py"/>
        <source>Preset {n} is not an object.</source>
        <translation>Vorgabe {n} ist kein Objekt.</translation>
    </message>
    <message>
        <location filename="../../app/chat/presets.py"/>
        <source>Preset {where} cannot be read: {place} is not known.</source>
        <translation>Vorgabe {where} kann nicht gelesen werden: {place} ist nicht bekannt.</translation>
    </message>
    <message>
        <location filename="../../app/chat/presets.py"/>
        <source>Preset {where} cannot be used: {why}</source>
        <translation>Vorgabe {where} kann nicht verwendet werden: {why}</translation>
    </message>
    <message>
        <location filename="../../app/chat/presets.py"/>
        <source>Preset {where} is damaged: {place} {why}.</source>
        <translation>Vorgabe {where} ist beschädigt: {place} {why}.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/models.py"/>
        <location filename="../../app/engine/model/model_file.py"/>
        <source>Put all parts into one folder.</source>
        <translation>Legen Sie alle Teile in einen Ordner.</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/conversation.py"/>
        <source>Put the assistant's message with the call before it.</source>
        <translation>Stelle die Nachricht des Assistenten mit dem Aufruf davor.</translation>
    </message>
    <message>
        <location filename="../../app/hosting/prompt_wait.py"/>
        <source>Reading {n_done:,} of {n_total:,} tokens</source>
        <translation>{n_done:,} von {n_total:,} Token gelesen</translation>
    </message>
    <message>
        <location filename="../../app/engine/sample/drawing.py"/>
        <source>Remove logit biases of -inf.</source>
        <translation>Entfernen Sie Logit-Verschiebungen von -inf.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/inspect/inspector.py"/>
        <source>Rename it.</source>
        <translation>Benennen Sie sie um.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/download/transfer.py"/>
        <source>Rename or delete it, or choose another folder.</source>
        <translation>Benennen Sie sie um, löschen Sie sie, oder wählen Sie einen anderen Ordner.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Repeat penalty</source>
        <translation>Wiederholung</translation>
    </message>
    <message>
        <location filename="../../app/installation/remedies.py"/>
        <source>Report it, with what `paceline doctor` prints.</source>
        <translation>Melden Sie es zusammen mit dem, was `paceline doctor` ausgibt.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/download/names.py"/>
        <source>Repositories are OWNER/NAME.</source>
        <translation>Repositories heißen OWNER/NAME.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/download/transfer.py"/>
        <source>Resume the download.</source>
        <translation>Setzen Sie den Download fort.</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/conversation.py"/>
        <source>Roles are {role_names}.</source>
        <translation>Rollen sind {role_names}.</translation>
    </message>
    <message>
        <location filename="../../app/chat/attachments.py"/>
        <source>Save it as UTF-8 and attach it again.</source>
        <translation>Speichern Sie sie als UTF-8, und hängen Sie sie noch einmal an.</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/reading.py"/>
        <source>See it in its program.</source>
        <translation>Sehen Sie ihn in seinem Programm an.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/download/downloads.py"/>
        <source>See the log.</source>
        <translation>Siehe das Protokoll.</translation>
    </message>
    <message>
        <location filename="../../app/storage/problems.py"/>
        <source>See whether the disk is in order. {kept}</source>
        <translation>Prüfen Sie, ob der Datenträger in Ordnung ist. {kept}</translation>
    </message>
    <message>
        <location filename="../../app/storage/problems.py"/>
        <source>See whether the folder is there and you may read and write in it. {kept}</source>
        <translation>Prüfen Sie, ob der Ordner da ist und Sie darin lesen und schreiben dürfen. {kept}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Seed</source>
        <translation>Seed</translation>
    </message>
    <message>
        <location filename="../../app/chat/attachments.py"/>
        <source>Send some of them with another message.</source>
        <translation>Senden Sie einige davon mit einer anderen Nachricht.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/download/transfer.py"/>
        <source>Set HF_ENDPOINT to that address to go on with it.</source>
        <translation>Setzen Sie HF_ENDPOINT auf jene Adresse, um ihn fortzusetzen.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/client.py"/>
        <source>Set HF_TOKEN instead.</source>
        <translation>Setzen Sie stattdessen HF_TOKEN.</translation>
    </message>
    <message>
        <location filename="../../app/paths.py"/>
        <source>Set HOME, or PACELINE_HOME to a folder that you can write to.</source>
        <translation>Setzen Sie HOME, oder PACELINE_HOME auf einen Ordner, in den Sie schreiben können.</translation>
    </message>
    <message>
        <location filename="../../app/paths.py"/>
        <source>Set PACELINE_HOME to a folder that you can write to.</source>
        <translation>Setzen Sie PACELINE_HOME auf einen Ordner, in den Sie schreiben können.</translation>
    </message>
    <message>
        <location filename="../../app/engine/refusals.py"/>
        <source>Shorten it or start a new chat.</source>
        <translation>Kürzen Sie sie, oder beginnen Sie einen neuen Chat.</translation>
    </message>
    <message>
        <location filename="../../app/engine/turn.py"/>
        <source>Shorten it, start a new chat, or load the model with a longer context.</source>
        <translation>Kürzen Sie ihn, beginnen Sie einen neuen Chat, oder laden Sie das Modell mit einem längeren Kontext.</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/grammar.py"/>
        <source>Simplify it: fewer options that begin alike, shorter repetitions.</source>
        <translation>Vereinfachen Sie sie: weniger Alternativen, die gleich beginnen, kürzere Wiederholungen.</translation>
    </message>
    <message>
        <location filename="../../app/engine/sameness/promise.py"/>
        <source>Single tokens are decoded as {n}, which takes {cost:.2f} × the time of one.</source>
        <translation>Einzelne Token werden dekodiert wie {n}, was das {cost:.2f}-Fache der Zeit eines einzelnen kostet.</translation>
    </message>
    <message>
        <location filename="../../app/engine/sameness/promise.py"/>
        <source>Single tokens are decoded as {n}.</source>
        <translation>Einzelne Token werden dekodiert wie {n}.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>Some steps without drafts, to see how fast the model is alone.</source>
        <translation>Einige Schritte ohne Entwürfe, um zu sehen, wie schnell das Modell allein ist.</translation>
    </message>
    <message>
        <location filename="../../app/engine/refusals.py"/>
        <source>Something unexpected went wrong in the engine: {name}: {error}.</source>
        <translation>In der Engine ist etwas Unerwartetes schiefgegangen: {name}: {error}.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Split</source>
        <translation>Aufteilung</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/model.py"/>
        <source>Start a new chat, or load the model with a longer context.</source>
        <translation>Beginnen Sie einen neuen Chat, oder laden Sie das Modell mit einem längeren Kontext.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/rpc_servers.py"/>
        <source>Start it there by `paceline rpc-server`, which says at which address it listens; or leave this server out.</source>
        <translation>Starten Sie ihn dort mit `paceline rpc-server`, das die Adresse nennt; oder lassen Sie diesen Server weg.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <location filename="../../app/catalog/hub/stream.py"/>
        <source>Start the download again.</source>
        <translation>Beginnen Sie den Download noch einmal.</translation>
    </message>
    <message>
        <location filename="../../app/engine/refusals.py"/>
        <location filename="../../app/hosting/process.py"/>
        <source>Stopped.</source>
        <translation>Angehalten.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/context.py"/>
        <source>Switch exact mode off.</source>
        <translation>Schalten Sie den exakten Modus aus.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/model_params.py"/>
        <source>Switch it on, or use f16 for V.</source>
        <translation>Schalten Sie sie ein, oder verwenden Sie f16 für V.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>Switch offline mode off, or unset HF_HUB_OFFLINE.</source>
        <translation>Schalten Sie den Offline-Modus aus, oder löschen Sie HF_HUB_OFFLINE.</translation>
    </message>
    <message>
        <location filename="../../app/engine/request.py"/>
        <source>Switch one of them off.</source>
        <translation>Schalten Sie eines davon aus.</translation>
    </message>
    <message>
        <location filename="../../app/engine/opening.py"/>
        <source>Take a smaller model of the main model's own family, or lookups, which need none.</source>
        <translation>Nehmen Sie ein kleineres Modell aus der Familie des Hauptmodells, oder das Nachschlagen, das keines braucht.</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/template.py"/>
        <source>Take another template: under Models → Chat template… in the window, by --template on the command line.</source>
        <translation>Nehmen Sie eine andere Vorlage: im Fenster unter Modelle → Chat-Vorlage …, in der Befehlszeile mit --template.</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/template.py"/>
        <source>Take it out of the message.</source>
        <translation>Nehmen Sie ihn aus der Nachricht heraus.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/draft_search.py"/>
        <source>Take no draft model: the model's own MTP head drafts.</source>
        <translation>Kein Entwurfsmodell nehmen: Der MTP-Kopf des Modells selbst entwirft.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/models.py"/>
        <source>Take them the other way round: the smaller one drafts.</source>
        <translation>Nehmen Sie sie umgekehrt: Das kleinere entwirft.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/draft_search.py"/>
        <source>Take “{name}” ({size:size}), which is here already. {words}</source>
        <translation>„{name}“ ({size:size}) nehmen, das schon da ist. {words}</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/draft_search.py"/>
        <source>Take “{name}” ({size:size}), which is here already: it reads the same tokens, and {share:.0f} % of the bytes per token.</source>
        <translation>„{name}“ ({size:size}) nehmen, das schon da ist: Es liest dieselben Token und {share:.0f} % der Bytes pro Token.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Temperature</source>
        <translation>Temperatur</translation>
    </message>
    <message>
        <location filename="../../app/chat/attachments.py"/>
        <source>Text and code files can be attached.</source>
        <translation>Text- und Codedateien können angehängt werden.</translation>
    </message>
    <message>
        <location filename="../../app/hosting/exit_reasons.py"/>
        <source>That was the third time within a minute: it can be started again in a minute.</source>
        <translation>Das war das dritte Mal in einer Minute: In einer Minute kann sie wieder gestartet werden.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>The Hub does not accept the access token for {what}.</source>
        <translation>Der Hub nimmt das Zugriffstoken für {what} nicht an.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/download/transfer.py"/>
        <source>The Hub has another file in the place of {name}: its SHA-256 is not the one that is known.</source>
        <translation>Der Hub hat an der Stelle von {name} eine andere Datei: Ihr SHA-256 ist nicht der bekannte.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>The Hub has no repository {what}, or it is private.</source>
        <translation>Der Hub hat kein Repository {what}, oder es ist privat.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>The Hub wants an access token for {what}.</source>
        <translation>Der Hub verlangt ein Zugriffstoken für {what}.</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/vocabulary.py"/>
        <source>The JSON schema cannot be used: {error}.</source>
        <translation>Das JSON-Schema kann nicht benutzt werden: {error}.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/rpc_servers.py"/>
        <source>The RPC server {server} does not answer.</source>
        <translation>Der RPC-Server {server} antwortet nicht.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/rpc_servers.py"/>
        <source>The RPC server {server} has fewer devices now than it said before.</source>
        <translation>Der RPC-Server {server} hat jetzt weniger Geräte, als er vorher angegeben hat.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/rpc_servers.py"/>
        <source>The RPC server {server} is of another version of llama.cpp.</source>
        <translation>Der RPC-Server {server} hat eine andere Version von llama.cpp.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/client.py"/>
        <source>The access token cannot be deleted ({why}).</source>
        <translation>Das Zugriffstoken kann nicht gelöscht werden ({why}).</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/client.py"/>
        <source>The access token cannot be kept in {path} ({why}).</source>
        <translation>Das Zugriffstoken kann nicht in {path} aufbewahrt werden ({why}).</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>The address of the Hub, or one that it gave, is none.</source>
        <translation>Die Adresse des Hubs, oder eine, die er gab, ist keine.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>The address of {host} cannot be found.</source>
        <translation>Die Adresse von {host} ist nicht zu finden.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>The address that the Hub gave for the file does not work any more.</source>
        <translation>Die Adresse, die der Hub für die Datei gab, gilt nicht mehr.</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/conversation.py"/>
        <source>The arguments of a call of the tool “{tool}” are not a JSON object.</source>
        <translation>Die Argumente eines Aufrufs des Werkzeugs „{tool}“ sind kein JSON-Objekt.</translation>
    </message>
    <message>
        <location filename="../../app/engine/calls/call_grammar.py"/>
        <source>The arguments of the tool “{name}” are constrained in part: the way in which this model writes calls has no place for all of the schema.</source>
        <translation>Die Argumente des Werkzeugs „{name}“ sind nur zum Teil eingeschränkt: Die Art, in der dieses Modell Aufrufe schreibt, bietet nicht für das ganze Schema Platz.</translation>
    </message>
    <message>
        <location filename="../../app/engine/calls/call_grammar.py"/>
        <source>The arguments of the tool “{name}” are not constrained. {reason}</source>
        <translation>Die Argumente des Werkzeugs „{name}“ sind nicht eingeschränkt. {reason}</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/chat_json.py"/>
        <source>The chat is damaged: its settings cannot be used. {why}</source>
        <translation>Der Chat ist beschädigt: Seine Einstellungen können nicht verwendet werden. {why}</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/chat_json.py"/>
        <source>The chat is damaged: {place} {why}.</source>
        <translation>Der Chat ist beschädigt: {place} {why}.</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/template.py"/>
        <source>The chat template does not know “{think}” as a way to reason.</source>
        <translation>Die Chat-Vorlage kennt „{think}“ nicht als Stufe des Nachdenkens.</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/template.py"/>
        <source>The chat template failed: {text}.</source>
        <translation>Die Chat-Vorlage ist fehlgeschlagen: {text}.</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/template.py"/>
        <source>The chat template has no switch for how much the model reasons.</source>
        <translation>Die Chat-Vorlage hat keinen Schalter dafür, wie viel das Modell nachdenkt.</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/template.py"/>
        <source>The chat template leaves the question out.</source>
        <translation>Die Chat-Vorlage lässt die Frage weg.</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/template.py"/>
        <source>The chat template refuses this conversation: {text:bare}.</source>
        <translation>Die Chat-Vorlage lehnt diesen Chat ab: {text:bare}.</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/template.py"/>
        <source>The chat template rewrites messages, so control tokens typed in them were broken up.</source>
        <translation>Die Chat-Vorlage schreibt Nachrichten um, darum wurden darin getippte Steuertoken zerlegt.</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/chat_json.py"/>
        <source>The chat was exported by a newer Paceline ({why}).</source>
        <translation>Der Chat wurde von einem neueren Paceline exportiert ({why}).</translation>
    </message>
    <message>
        <location filename="../../app/storage/problems.py"/>
        <source>The chats in {path} cannot be opened ({why}).</source>
        <translation>Die Chats in {path} können nicht geöffnet werden ({why}).</translation>
    </message>
    <message>
        <location filename="../../app/storage/problems.py"/>
        <source>The chats in {path} cannot be written ({why}).</source>
        <translation>Die Chats in {path} können nicht geschrieben werden ({why}).</translation>
    </message>
    <message>
        <location filename="../../app/storage/problems.py"/>
        <source>The chats in {path} cannot be written to.</source>
        <translation>In die Chats in {path} kann nicht geschrieben werden.</translation>
    </message>
    <message>
        <location filename="../../app/storage/problems.py"/>
        <source>The chats in {path} were written by a newer version of Paceline.</source>
        <translation>Die Chats in {path} wurden von einer neueren Version von Paceline geschrieben.</translation>
    </message>
    <message>
        <location filename="../../app/chat/sameness.py"/>
        <source>The check was stopped.</source>
        <translation>Die Prüfung wurde gestoppt.</translation>
    </message>
    <message>
        <location filename="../../app/chat/comparison.py"/>
        <source>The comparison was stopped.</source>
        <translation>Der Vergleich wurde angehalten.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/rpc_servers.py"/>
        <source>The computer with the RPC server {server} cannot be reached.</source>
        <translation>Der Computer mit dem RPC-Server {server} ist nicht erreichbar.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/rpc_servers.py"/>
        <source>The computer “{host}” with the RPC server {server} is not found.</source>
        <translation>Der Computer „{host}“ mit dem RPC-Server {server} wird nicht gefunden.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/download/transfer.py"/>
        <source>The connection broke off.</source>
        <translation>Die Verbindung brach ab.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>The connection cannot be prepared: the environment names an unusable proxy or certificates that cannot be read.</source>
        <translation>Die Verbindung kann nicht vorbereitet werden: Die Umgebung nennt einen unbrauchbaren Proxy oder Zertifikate, die nicht gelesen werden können.</translation>
    </message>
    <message>
        <location filename="../../app/hosting/lost_servers.py"/>
        <source>The connection to one of the RPC servers {names} was lost.</source>
        <translation>Die Verbindung zu einem der RPC-Server {names} ist abgerissen.</translation>
    </message>
    <message>
        <location filename="../../app/hosting/lost_servers.py"/>
        <source>The connection to the RPC server {names} was lost.</source>
        <translation>Die Verbindung zum RPC-Server {names} ist abgerissen.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>The connection to {host} broke off.</source>
        <translation>Die Verbindung zu {host} brach ab.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>The connection to {host} is not trustworthy: its certificate was refused.</source>
        <translation>Die Verbindung zu {host} ist nicht vertrauenswürdig: Ihr Zertifikat wurde abgelehnt.</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/model.py"/>
        <source>The context has no room left.</source>
        <translation>Der Kontext hat keinen Platz mehr.</translation>
    </message>
    <message>
        <location filename="../../app/chat/sameness.py"/>
        <source>The context is full after {n_same:,} tokens, all of them the same.</source>
        <translation>Der Kontext ist nach {n_same:,} Token voll, alle davon gleich.</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/model.py"/>
        <source>The context of {n_ctx:,} tokens is full.</source>
        <translation>Der Kontext von {n_ctx:,} Token ist voll.</translation>
    </message>
    <message>
        <location filename="../../app/engine/refusals.py"/>
        <source>The conversation is larger than any context.</source>
        <translation>Der Chat ist größer als jeder Kontext.</translation>
    </message>
    <message>
        <location filename="../../app/parameters.py"/>
        <source>The default is {default}.</source>
        <translation>Standard ist {default}.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/placement.py"/>
        <source>The device {name} is named twice.</source>
        <translation>Das Gerät {name} ist zweimal genannt.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/download/downloads.py"/>
        <source>The disk of {folder} is full.</source>
        <translation>Der Datenträger von {folder} ist voll.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/download/downloads.py"/>
        <source>The download failed by a fault of this program.</source>
        <translation>Der Download ist durch einen Fehler dieses Programms fehlgeschlagen.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <source>The draft model does not write text from left to right, so it cannot draft.</source>
        <translation>Das Entwurfsmodell schreibt Text nicht von links nach rechts, darum kann es nicht entwerfen.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <source>The draft model has {bits:.0f} bits per weight; one of 8 bits reads half as much or less per drafted token.</source>
        <translation>Das Entwurfsmodell hat {bits:.0f} Bits pro Gewicht; eines mit 8 Bits liest höchstens halb so viel je entworfenem Token.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <source>The draft model has {bits:.1f} bits per weight; with so few, fewer drafted tokens may be right.</source>
        <translation>Das Entwurfsmodell hat {bits:.1f} Bits pro Gewicht; bei so wenigen sind vielleicht weniger entworfene Token richtig.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <source>The draft model is larger than the main model; the other way round they may pay.</source>
        <translation>Das Entwurfsmodell ist größer als das Hauptmodell; umgekehrt kann es sich lohnen.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <source>The draft model reads {share} of the bytes that the main model reads per token</source>
        <translation>Das Entwurfsmodell liest {share} der Bytes, die das Hauptmodell pro Token liest</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <source>The draft model was trained for {theirs:,} tokens and the main model for {ours:,}; of longer chats it knows the end alone.</source>
        <translation>Das Entwurfsmodell wurde für {theirs:,} Token trainiert und das Hauptmodell für {ours:,}; von längeren Chats kennt es nur das Ende.</translation>
    </message>
    <message>
        <location filename="../../app/engine/opening.py"/>
        <source>The draft model's context ends at {n_ctx:,} tokens; of longer chats it knows the end alone.</source>
        <translation>Der Kontext des Entwurfsmodells endet bei {n_ctx:,} Token; von längeren Chats kennt es nur das Ende.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <source>The draft model's licence is “{license}”, the main model's is {theirs}.</source>
        <translation>Die Lizenz des Entwurfsmodells ist „{license}“, die des Hauptmodells ist {theirs}.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/registry.py"/>
        <source>The drafter plug-in {name} cannot be imported: {error}.</source>
        <translation>Das Entwerfer-Plug-in {name} kann nicht importiert werden: {error}.</translation>
    </message>
    <message>
        <location filename="../../app/engine/turn.py"/>
        <source>The drafter {drafter} failed, so the reply goes on {how}.</source>
        <translation>Der Entwerfer {drafter} ist fehlgeschlagen, darum geht die Antwort {how} weiter.</translation>
    </message>
    <message>
        <location filename="../../app/hosting/process.py"/>
        <source>The engine did not come to an end after a reply</source>
        <translation>Die Engine kam nach einer Antwort zu keinem Ende</translation>
    </message>
    <message>
        <location filename="../../app/hosting/supervisor.py"/>
        <source>The engine did not stop in time, so its process was ended.</source>
        <translation>Die Engine hielt nicht rechtzeitig an, darum wurde ihr Prozess beendet.</translation>
    </message>
    <message>
        <location filename="../../app/hosting/threaded.py"/>
        <source>The engine ended unexpectedly ({what}).</source>
        <translation>Die Engine endete unerwartet ({what}).</translation>
    </message>
    <message>
        <location filename="../../app/hosting/process.py"/>
        <source>The engine ended while it loaded “{name}”. {reason}</source>
        <translation>Die Engine endete, während sie „{name}“ lud. {reason}</translation>
    </message>
    <message>
        <location filename="../../app/hosting/exit_reasons.py"/>
        <source>The engine ended: {words:bare}.</source>
        <translation>Die Engine endete: {words:bare}.</translation>
    </message>
    <message>
        <location filename="../../app/hosting/supervisor.py"/>
        <source>The engine has ended three times within a minute, so it is not started again yet.</source>
        <translation>Die Engine ist in einer Minute dreimal geendet, darum wird sie noch nicht wieder gestartet.</translation>
    </message>
    <message>
        <location filename="../../app/hosting/supervisor.py"/>
        <source>The engine has not answered for {silent_s:.0f} seconds</source>
        <translation>Die Engine hat seit {silent_s:.0f} Sekunden nicht geantwortet</translation>
    </message>
    <message>
        <location filename="../../app/hosting/process.py"/>
        <source>The engine left a load without an answer</source>
        <translation>Die Engine ließ ein Laden ohne Antwort</translation>
    </message>
    <message>
        <location filename="../../app/hosting/process.py"/>
        <source>The engine left a reply without an end</source>
        <translation>Die Engine ließ eine Antwort ohne Ende</translation>
    </message>
    <message>
        <location filename="../../app/hosting/lost_servers.py"/>
        <source>The engine lost a connection. {messages}</source>
        <translation>Die Engine hat eine Verbindung verloren. {messages}</translation>
    </message>
    <message>
        <location filename="../../app/hosting/supervisor.py"/>
        <source>The engine sent something that is no message ({error})</source>
        <translation>Die Engine hat etwas gesendet, das keine Nachricht ist ({error})</translation>
    </message>
    <message>
        <location filename="../../app/hosting/process.py"/>
        <source>The engine takes no commands any more</source>
        <translation>Die Engine nimmt keine Befehle mehr an</translation>
    </message>
    <message>
        <location filename="../../app/hosting/broker.py"/>
        <source>The engine was shut down.</source>
        <translation>Die Engine wurde beendet.</translation>
    </message>
    <message>
        <location filename="../../app/hosting/supervisor.py"/>
        <source>The engine's process cannot be started ({why}).</source>
        <translation>Der Prozess der Engine kann nicht gestartet werden ({why}).</translation>
    </message>
    <message>
        <location filename="../../app/hosting/exit_reasons.py"/>
        <source>The engine's process was ended from outside ({name}).</source>
        <translation>Der Prozess der Engine wurde von außen beendet ({name}).</translation>
    </message>
    <message>
        <location filename="../../app/hosting/exit_reasons.py"/>
        <source>The engine's process was ended from outside, as the system does when memory runs out.</source>
        <translation>Der Prozess der Engine wurde von außen beendet, wie das System es tut, wenn der Speicher ausgeht.</translation>
    </message>
    <message>
        <location filename="../../app/hosting/supervisor.py"/>
        <source>The engine's process was not ready within {start_s:.0f} seconds</source>
        <translation>Der Prozess der Engine war nicht innerhalb von {start_s:.0f} Sekunden bereit</translation>
    </message>
    <message>
        <location filename="../../app/server/unchanged.py"/>
        <source>The expression “{text}” took too long, so no further change was ignored by it in this request.</source>
        <translation>Der Ausdruck „{text}“ brauchte zu lange; in dieser Anfrage wurde damit keine weitere Änderung übergangen.</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/formats.py"/>
        <source>The file has no chat template. By its name it was made to chat, and its vocabulary has {marks}: so the template {name} is taken, which is a guess.</source>
        <translation>Die Datei hat keine Chat-Vorlage. Nach ihrem Namen ist sie zum Chatten gemacht, und ihr Vokabular hat {marks}: Darum wird die Vorlage {name} genommen, was eine Vermutung ist.</translation>
    </message>
    <message>
        <location filename="../../app/chat/presets.py"/>
        <source>The file has the version {version:.20}.</source>
        <translation>Die Datei hat die Version {version:.20}.</translation>
    </message>
    <message>
        <location filename="../../app/chat/presets.py"/>
        <source>The file holds no presets.</source>
        <translation>Die Datei enthält keine Vorgaben.</translation>
    </message>
    <message>
        <location filename="../../app/chat/presets.py"/>
        <source>The file holds {n} presets; {most} is the most.</source>
        <translation>Die Datei enthält {n} Vorgaben; {most} ist die Grenze.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/download/transfer.py"/>
        <source>The file is longer than the Hub said.</source>
        <translation>Die Datei ist länger, als der Hub gesagt hat.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/placement.py"/>
        <source>The file is not damaged. Choose other devices, or leave devices and split mode at auto.</source>
        <translation>Die Datei ist nicht beschädigt. Wählen Sie andere Geräte, oder lassen Sie Geräte und Aufteilung auf auto.</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/newer.py"/>
        <source>The file is not damaged. {newer} Or choose another model.</source>
        <translation>Die Datei ist nicht beschädigt. {newer} Oder wählen Sie ein anderes Modell.</translation>
    </message>
    <message>
        <location filename="../../app/engine/sameness/look.py"/>
        <source>The file may be damaged, or made for something else than writing text.</source>
        <translation>Die Datei ist vielleicht beschädigt oder für etwas anderes gemacht als zum Schreiben von Text.</translation>
    </message>
    <message>
        <location filename="../../app/hosting/process.py"/>
        <source>The file may be damaged: download it again, or choose another one.</source>
        <translation>Die Datei ist vielleicht beschädigt: Laden Sie sie noch einmal herunter, oder wählen Sie eine andere.</translation>
    </message>
    <message>
        <location filename="../../app/engine/sample/drawing.py"/>
        <source>The file may be damaged: verify or download it again, or try another one.</source>
        <translation>Die Datei ist vielleicht beschädigt: Prüfen Sie sie, laden Sie sie noch einmal herunter, oder versuchen Sie eine andere.</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/backend.py"/>
        <source>The file may be incomplete or of an unknown kind: download it again, or choose another.</source>
        <translation>Die Datei ist vielleicht unvollständig oder von unbekannter Art: Laden Sie sie noch einmal herunter, oder wählen Sie eine andere.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/download/names.py"/>
        <source>The file name {path:.80} is not used on this computer.</source>
        <translation>Der Dateiname {path:.80} wird auf diesem Computer nicht verwendet.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/stream.py"/>
        <source>The file on the Hub has changed meanwhile.</source>
        <translation>Die Datei auf dem Hub hat sich inzwischen geändert.</translation>
    </message>
    <message>
        <location filename="../../app/storage/problems.py"/>
        <source>The file {path} was replaced by another one while Paceline was using it.</source>
        <translation>Die Datei {path} wurde durch eine andere ersetzt, während Paceline sie benutzte.</translation>
    </message>
    <message>
        <location filename="../../app/storage/problems.py"/>
        <source>The file {path} with the chats is damaged.</source>
        <translation>Die Datei {path} mit den Chats ist beschädigt.</translation>
    </message>
    <message>
        <location filename="../../app/storage/salvage.py"/>
        <source>The file {path} with the chats was damaged. {n_chats} chats with {n_messages} messages could be read and are here. The damaged file was kept as {copy}.</source>
        <translation>Die Datei {path} mit den Chats war beschädigt. {n_chats} Chats mit {n_messages} Nachrichten konnten gelesen werden und sind hier. Die beschädigte Datei wurde als {copy} aufbewahrt.</translation>
    </message>
    <message>
        <location filename="../../app/storage/disk.py"/>
        <source>The file {path} with the chats was there, but empty, so it begins anew. If chats were in it, close Paceline and take the file from a backup.</source>
        <translation>Die Datei {path} mit den Chats war da, aber leer, darum beginnt sie neu. Falls Chats darin waren, schließen Sie Paceline, und nehmen Sie die Datei aus einer Sicherung.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/model_file.py"/>
        <source>The file “{name}” was deleted, moved or replaced while it was loaded.</source>
        <translation>Die Datei „{name}“ wurde gelöscht, verschoben oder ersetzt, während sie geladen wurde.</translation>
    </message>
    <message>
        <location filename="../../app/engine/pair.py"/>
        <source>The file “{name}” was written to after it was loaded, so nothing that comes of it can be trusted.</source>
        <translation>In die Datei „{name}“ wurde nach dem Laden geschrieben, darum ist nichts verlässlich, was sie ergibt.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/download/downloads.py"/>
        <source>The files cannot be written to {folder} ({why}).</source>
        <translation>Die Dateien können nicht nach {folder} geschrieben werden ({why}).</translation>
    </message>
    <message>
        <location filename="../../app/paths.py"/>
        <source>The files that belong to Paceline are missing.</source>
        <translation>Die Dateien, die zu Paceline gehören, fehlen.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/placement.py"/>
        <source>The first one is number 0.</source>
        <translation>Die erste hat die Nummer 0.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <source>The first {n:,} tokens are the same; the {model} has {n_more:,} more, which are never drafted.</source>
        <translation>Die ersten {n:,} Token sind dieselben; das {model} hat {n_more:,} mehr, die nie entworfen werden.</translation>
    </message>
    <message>
        <location filename="../../app/paths.py"/>
        <source>The folder {folder} cannot be created ({why}).</source>
        <translation>Der Ordner {folder} kann nicht angelegt werden ({why}).</translation>
    </message>
    <message>
        <location filename="../../app/paths.py"/>
        <source>The folder {folder} cannot be read ({why}).</source>
        <translation>Der Ordner {folder} kann nicht gelesen werden ({why}).</translation>
    </message>
    <message>
        <location filename="../../app/paths.py"/>
        <source>The folder {home} cannot be used: there is no such user.</source>
        <translation>Der Ordner {home} kann nicht benutzt werden: Es gibt keinen solchen Benutzer.</translation>
    </message>
    <message>
        <location filename="../../app/engine/calls/call_grammar.py"/>
        <source>The form that the answer is to have has no effect, since the reply is to call a tool.</source>
        <translation>Die Form, die die Antwort haben soll, wirkt nicht, da die Antwort ein Werkzeug aufrufen soll.</translation>
    </message>
    <message>
        <location filename="../../app/engine/sample/drawing.py"/>
        <source>The grammar allows no token that the model could go on with.</source>
        <translation>Die Grammatik erlaubt kein Token, mit dem das Modell weiterschreiben könnte.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>The grammar allows one continuation only: its tokens cost next to nothing.</source>
        <translation>Die Grammatik lässt nur eine Fortsetzung zu: Deren Token kosten fast nichts.</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/vocabulary.py"/>
        <source>The grammar cannot be used: {error}.</source>
        <translation>Die Grammatik kann nicht benutzt werden: {error}.</translation>
    </message>
    <message>
        <location filename="../../app/engine/calls/either.py"/>
        <location filename="../../app/engine/llama/grammars/grammar.py"/>
        <source>The grammar does not allow this token here.</source>
        <translation>Die Grammatik erlaubt dieses Token hier nicht.</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/grammar.py"/>
        <source>The grammar is too complex to go on with.</source>
        <translation>Die Grammatik ist zu komplex, um mit ihr weiterzugehen.</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/grammar.py"/>
        <source>The grammar was closed.</source>
        <translation>Die Grammatik wurde geschlossen.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/fetching.py"/>
        <source>The header of the model cannot be kept ({why}).</source>
        <translation>Der Kopf der Modelldatei kann nicht aufbewahrt werden ({why}).</translation>
    </message>
    <message>
        <location filename="../../app/engine/decode/likelihoods.py"/>
        <source>The likeliest {n} tokens are asked for.</source>
        <translation>Gefragt ist nach den {n} wahrscheinlichsten Token.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/curated.py"/>
        <source>The list of pairs “{name}” cannot be used: {error}.</source>
        <translation>Die Liste der Paare „{name}“ kann nicht benutzt werden: {error}.</translation>
    </message>
    <message>
        <location filename="../../app/engine/sample/sampling.py"/>
        <source>The logit bias of token {token} is {bias:g}.</source>
        <translation>Die Logit-Verschiebung von Token {token} ist {bias:g}.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/lookups/lookup_cache.py"/>
        <source>The lookup cache “{name}” has token {token}, but the model has only {n_vocab:,} tokens.</source>
        <translation>Der Nachschlage-Cache „{name}“ hat Token {token}, aber das Modell hat nur {n_vocab:,} Token.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/lookups/lookup_cache.py"/>
        <source>The lookup cache “{name}” was made for {other}, whose tokens are not the same.</source>
        <translation>Der Nachschlage-Cache „{name}“ wurde für {other} gemacht, dessen Token nicht dieselben sind.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/lookups/lookup_cache.py"/>
        <source>The lookup cache “{path}” cannot be read: {reason}.</source>
        <translation>Der Nachschlage-Cache „{path}“ kann nicht gelesen werden: {reason}.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>The machine is at {share:percent} of the speed that was measured first.</source>
        <translation>Der Rechner hat jetzt {share:percent} des Tempos, das zuerst gemessen wurde.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <source>The model brings no chat template, so it is probably a base model, which goes on with a text and was not made to chat. How a chat is written for it is a guess.</source>
        <translation>Das Modell bringt keine Chat-Vorlage mit, ist also wahrscheinlich ein Basismodell, das einen Text fortsetzt und nicht zum Chatten gemacht ist. Wie ein Chat für es geschrieben wird, ist geraten.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/memory/plan.py"/>
        <source>The model does not fit, even without a draft model. Missing: {missing}. {help}</source>
        <translation>Das Modell passt nicht in den Speicher, auch ohne Entwurfsmodell. Es fehlen: {missing}. {help}</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <source>The model does not write text from left to right, so nothing can be drafted.</source>
        <translation>Das Modell schreibt Text nicht von links nach rechts, darum kann nichts entworfen werden.</translation>
    </message>
    <message>
        <location filename="../../app/engine/sameness/look.py"/>
        <source>The model gives invalid numbers instead of logits.</source>
        <translation>Das Modell liefert ungültige Zahlen statt Logits.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <source>The model has its MTP head inside, so no second model is needed.</source>
        <translation>Das Modell hat seinen MTP-Kopf in der Datei, darum braucht es kein zweites Modell.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <source>The model has no MTP head inside.</source>
        <translation>Das Modell hat keinen MTP-Kopf in der Datei.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <source>The model is a mixture of experts: checking several tokens at once reads more experts than writing one, which eats a part of the gain.</source>
        <translation>Das Modell ist eine Mischung von Experten: Mehrere Token auf einmal zu prüfen liest mehr Experten, als eines zu schreiben, was einen Teil des Gewinns aufzehrt.</translation>
    </message>
    <message>
        <location filename="../../app/engine/sample/drawing.py"/>
        <source>The model produced invalid numbers instead of logits.</source>
        <translation>Das Modell lieferte ungültige Zahlen statt Logits.</translation>
    </message>
    <message>
        <location filename="../../app/engine/opening.py"/>
        <source>The model's {head} is not used. {message}</source>
        <translation>Der {head} des Modells wird nicht benutzt. {message}</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/model.py"/>
        <source>The models are loaded again with the next message. If it fails once more, restart Paceline, or choose a smaller model or another device.</source>
        <translation>Die Modelle werden mit der nächsten Nachricht neu geladen. Wenn es noch einmal fehlschlägt, starten Sie Paceline neu, oder wählen Sie ein kleineres Modell oder ein anderes Gerät.</translation>
    </message>
    <message>
        <location filename="../../app/bench/runner.py"/>
        <source>The models were unloaded.</source>
        <translation>Die Modelle wurden entladen.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/inspect/inspector.py"/>
        <source>The name “{shown}” or that of its folder is no valid text.</source>
        <translation>Der Name „{shown}“ oder der seines Ordners ist kein gültiger Text.</translation>
    </message>
    <message>
        <location filename="../../app/engine/decode/decoder.py"/>
        <source>The next reply may draft again.</source>
        <translation>Die nächste Antwort kann wieder entwerfen.</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/size.py"/>
        <source>The oldest message was left out, because the chat no longer fits into the context.</source>
        <translation>Die älteste Nachricht wurde weggelassen, weil der Chat nicht mehr in den Kontext passt.</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/size.py"/>
        <source>The oldest {n} messages were left out, because the chat no longer fits into the context.</source>
        <translation>Die ältesten {n} Nachrichten wurden weggelassen, weil der Chat nicht mehr in den Kontext passt.</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/conversation.py"/>
        <source>The parameters of the tool “{tool}” are not a JSON object.</source>
        <translation>Die Parameter des Werkzeugs „{tool}“ sind kein JSON-Objekt.</translation>
    </message>
    <message>
        <location filename="../../app/chat/attachments.py"/>
        <source>The pasted text has {size:.1f} MB; a file may have 1 MB.</source>
        <translation>Der eingefügte Text hat {size:.1f} MB; eine Datei darf 1 MB haben.</translation>
    </message>
    <message>
        <location filename="../../app/engine/turn.py"/>
        <source>The prompt has {n_prompt:,} tokens, but the context holds {n_ctx:,}.</source>
        <translation>Der Prompt hat {n_prompt:,} Token, aber der Kontext fasst {n_ctx:,}.</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/conversation.py"/>
        <source>The prompt is empty.</source>
        <translation>Der Prompt ist leer.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>The proxy in the settings cannot be used.</source>
        <translation>Der Proxy in den Einstellungen kann nicht benutzt werden.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>The proxy in the settings is a SOCKS proxy, which Paceline cannot use.</source>
        <translation>Der Proxy in den Einstellungen ist ein SOCKS-Proxy, den Paceline nicht verwenden kann.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>The proxy that ALL_PROXY, HTTP_PROXY or HTTPS_PROXY names is a SOCKS proxy, which Paceline cannot use.</source>
        <translation>Der Proxy, den ALL_PROXY, HTTP_PROXY oder HTTPS_PROXY nennt, ist ein SOCKS-Proxy, den Paceline nicht benutzen kann.</translation>
    </message>
    <message>
        <location filename="../../app/chat/recording.py"/>
        <source>The recorded example cannot be read ({error}).</source>
        <translation>Das aufgezeichnete Beispiel kann nicht gelesen werden ({error}).</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/listing.py"/>
        <source>The repository {repo} has no model in GGUF format.</source>
        <translation>Das Repository {repo} hat kein Modell im GGUF-Format.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/listing.py"/>
        <source>The repository {repo} has no model “{wanted}”.</source>
        <translation>Das Repository {repo} hat kein Modell „{wanted}“.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>The request to the Hub was stopped.</source>
        <translation>Die Anfrage an den Hub wurde gestoppt.</translation>
    </message>
    <message>
        <location filename="../../app/engine/sameness/promise.py"/>
        <source>The same turn gives the same text here with any strategy, and whatever was in the context before: each token is computed as if it were alone{looked}.</source>
        <translation>Dieselbe Frage an derselben Stelle gibt hier mit jeder Strategie denselben Text, gleich, was vorher im Kontext war: Jedes Token wird gerechnet, als stünde es allein{looked}.</translation>
    </message>
    <message>
        <location filename="../../app/engine/sameness/promise.py"/>
        <source>The same turn gives the same text with any strategy here, as far as was looked{looked}. A next turn, or regenerating, can differ in near-ties; exact mode avoids that.</source>
        <translation>Derselbe Beitrag ergibt hier mit jeder Strategie denselben Text, soweit geprüft wurde{looked}. Der nächste Beitrag, oder ein neues Erzeugen, kann sich in knappen Fällen unterscheiden; der exakte Modus vermeidet das.</translation>
    </message>
    <message>
        <location filename="../../app/engine/refusals.py"/>
        <source>The setting counts from the next reply on.</source>
        <translation>Die Einstellung gilt ab der nächsten Antwort.</translation>
    </message>
    <message>
        <location filename="../../app/bench/plan.py"/>
        <source>The strategy {strategy} is given twice.</source>
        <translation>Die Strategie {strategy} ist zweimal angegeben.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/draft_model.py"/>
        <source>The strategy “draft” needs a draft model, and none is loaded.</source>
        <translation>Die Strategie „draft“ braucht ein Entwurfsmodell, und keines ist geladen.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/mtp.py"/>
        <source>The strategy “mtp” needs an MTP head, and none is loaded.</source>
        <translation>Die Strategie „mtp“ braucht einen MTP-Kopf, und keiner ist geladen.</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/vocabulary.py"/>
        <source>The text cannot be tokenized.</source>
        <translation>Der Text kann nicht in Token zerlegt werden.</translation>
    </message>
    <message>
        <location filename="../../app/engine/calls/call_grammar.py"/>
        <source>The tool “{name}” is to be called, but it is not there.</source>
        <translation>Das Werkzeug „{name}“ soll aufgerufen werden, ist aber nicht angegeben.</translation>
    </message>
    <message>
        <location filename="../../app/engine/opening.py"/>
        <source>The {head} is for other tokens than the model's: {text}.</source>
        <translation>Der {head} ist für andere Token als die des Modells: {text}.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <source>The {head} is not the model's: it reads {read} columns, and the model's states have {width}.</source>
        <translation>Der {head} ist nicht der des Modells: Er liest {read} Spalten, und die Zustände des Modells haben {width}.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <source>The {head} is not the model's: it was made for “{name}”.</source>
        <translation>Der {head} ist nicht der des Modells: Er wurde für „{name}“ gemacht.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <source>The {head} is the model's, so no second model is needed.</source>
        <translation>Der {head} ist der des Modells, darum braucht es kein zweites Modell.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <source>The {who} has a recurrent memory: taking tokens back costs earlier states or copies of one, which eat a part of the gain.</source>
        <translation>Das {who} hat einen rekurrenten Speicher: Token zurückzunehmen kostet frühere Zustände oder Kopien von einem, was einen Teil des Gewinns aufzehrt.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <source>Their families are related: {names}.</source>
        <translation>Ihre Familien sind verwandt: {names}.</translation>
    </message>
    <message>
        <location filename="../../app/engine/sample/sampling.py"/>
        <source>There are {n} logit biases.</source>
        <translation>Es sind {n} Logit-Verschiebungen.</translation>
    </message>
    <message>
        <location filename="../../app/chat/presets.py"/>
        <source>There are {n} stop strings.</source>
        <translation>Es sind {n} Stopptexte.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/placement.py"/>
        <source>There is no GPU here that this build of llama.cpp can use</source>
        <translation>Hier gibt es keine GPU, die dieses llama.cpp benutzen kann</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/placement.py"/>
        <source>There is no device number {main_gpu}: there are {names}.</source>
        <translation>Es gibt kein Gerät mit der Nummer {main_gpu}, nur {names}.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/placement.py"/>
        <source>There is no device “{name}”.</source>
        <translation>Es gibt kein Gerät „{name}“.</translation>
    </message>
    <message>
        <location filename="../../app/gui/state/speculation.py"/>
        <source>There is no drafter “{name}” here.</source>
        <translation>Hier gibt es keinen Entwerfer „{name}“.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/model_file.py"/>
        <source>There is no file “{path}”.</source>
        <translation>Es gibt keine Datei „{path}“.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/grammar_drafter.py"/>
        <source>There is no grammar that could force anything.</source>
        <translation>Es gibt keine Grammatik, die etwas erzwingen könnte.</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/mtp_head.py"/>
        <source>There is no head for so long a draft.</source>
        <translation>Für einen so langen Entwurf gibt es keinen Kopf.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/model_params.py"/>
        <source>There is no room for a {what}: {why}.</source>
        <translation>Für einen {what} ist kein Platz: {why}.</translation>
    </message>
    <message>
        <location filename="../../app/storage/problems.py"/>
        <source>There is no space left for the chats in {folder}.</source>
        <translation>Für die Chats in {folder} ist kein Platz mehr.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/registry.py"/>
        <source>There is no strategy “{name}”.</source>
        <translation>Es gibt keine Strategie „{name}“.</translation>
    </message>
    <message>
        <location filename="../../app/engine/refusals.py"/>
        <source>There is not enough memory.</source>
        <translation>Der Speicher reicht nicht.</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/model.py"/>
        <source>There is too little memory for a decode of {n:,} tokens: {why}.</source>
        <translation>Für ein Dekodieren von {n:,} Token reicht der Speicher nicht: {why}.</translation>
    </message>
    <message>
        <location filename="../../app/bench/verdict.py"/>
        <source>There is too little to compare yet.</source>
        <translation>Zum Vergleichen ist es noch zu wenig.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>There was little to copy from.</source>
        <translation>Es gab wenig, woraus sich abschreiben ließ.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>There was nothing to copy from.</source>
        <translation>Es gab nichts, woraus sich abschreiben ließ.</translation>
    </message>
    <message>
        <location filename="../../app/storage/problems.py"/>
        <source>They are left alone. New chats are kept in memory, and put aside for the newer version when Paceline is closed. Install it to see the old ones.</source>
        <translation>Sie bleiben unberührt. Neue Chats werden im Speicher gehalten und beim Schließen von Paceline für die neuere Version beiseitegelegt. Installieren Sie sie, um die alten zu sehen.</translation>
    </message>
    <message>
        <location filename="../../app/installation/remedies.py"/>
        <source>They are tested again at the next start.</source>
        <translation>Beim nächsten Start werden sie noch einmal getestet.</translation>
    </message>
    <message>
        <location filename="../../app/installation/remedies.py"/>
        <source>They are tested again once the file {file} is deleted.</source>
        <translation>Sie werden noch einmal getestet, sobald die Datei {file} gelöscht ist.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <source>They come from different families, {names}; fewer drafted tokens may be right.</source>
        <translation>Sie stammen aus verschiedenen Familien, {names}; vielleicht sind weniger entworfene Token richtig.</translation>
    </message>
    <message>
        <location filename="../../app/chat/presets.py"/>
        <source>This JSON is nested too deeply or holds too large numbers.</source>
        <translation>Dieses JSON ist zu tief verschachtelt oder enthält zu große Zahlen.</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/rpc_server.py"/>
        <source>This build of llama.cpp does not let --memory be told to others.</source>
        <translation>Mit diesem Build von llama.cpp lässt sich --memory anderen nicht mitteilen.</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/devices.py"/>
        <source>This build of llama.cpp has no RPC.</source>
        <translation>Dieser Build von llama.cpp hat kein RPC.</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/hidden_rows.py"/>
        <source>This build of llama.cpp has no calls for MTP heads.</source>
        <translation>Dieser Bau von llama.cpp hat keine Aufrufe für MTP-Köpfe.</translation>
    </message>
    <message>
        <location filename="../../app/storage/archive.py"/>
        <source>This chat is not there any more.</source>
        <translation>Diesen Chat gibt es nicht mehr.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/download/transfer.py"/>
        <source>This download belongs to {endpoint}.</source>
        <translation>Dieser Download gehört zu {endpoint}.</translation>
    </message>
    <message>
        <location filename="../../app/chat/presets.py"/>
        <source>This file holds no presets of replies.</source>
        <translation>Diese Datei enthält keine Vorgaben für Antworten.</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/model.py"/>
        <source>This is a fault of Paceline, please report it. Asking again may help.</source>
        <translation>Das ist ein Fehler von Paceline, bitte melden Sie ihn. Noch einmal zu fragen kann helfen.</translation>
    </message>
    <message>
        <location filename="../../app/engine/refusals.py"/>
        <source>This is a fault of Paceline; the log file tells more.</source>
        <translation>Das ist ein Fehler von Paceline; das Protokoll sagt mehr.</translation>
    </message>
    <message>
        <location filename="../../app/chat/presets.py"/>
        <source>This is no JSON: {why} (line {line}, column {column}).</source>
        <translation>Das ist kein JSON: {why} (Zeile {line}, Spalte {column}).</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/client.py"/>
        <source>This is no access token: it has spaces or signs that no token has.</source>
        <translation>Das ist kein Zugriffstoken: Es hat Leerzeichen oder Zeichen, die kein Token hat.</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/formats.py"/>
        <source>This is probably a base model: it goes on with a text and was not made to chat. It has no chat template, so the chat is written as a text with “User:” and “Assistant:”, and a reply ends before the next turn.</source>
        <translation>Das ist wahrscheinlich ein Basismodell: Es setzt einen Text fort und wurde nicht zum Chatten gemacht. Es hat keine Chat-Vorlage, daher wird der Chat als Text mit „User:“ und „Assistant:“ geschrieben, und eine Antwort endet vor dem nächsten Zug.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/states.py"/>
        <source>This model can take back {n} tokens: drafts end there.</source>
        <translation>Dieses Modell kann {n} Token zurücknehmen: Entwürfe enden dort.</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/infill.py"/>
        <source>This model cannot fill in a gap: its vocabulary has no tokens that mark one.</source>
        <translation>Dieses Modell kann keine Lücke füllen: Sein Vokabular hat keine Tokens, die eine bezeichnen.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/context.py"/>
        <source>This model cannot take padding back, which exact mode needs.</source>
        <translation>Dieses Modell kann Auffüllung nicht zurücknehmen, was der exakte Modus braucht.</translation>
    </message>
    <message>
        <location filename="../../app/chat/advice.py"/>
        <source>This model is already fast; guessing helps larger ones.</source>
        <translation>Dieses Modell ist schon schnell; Raten hilft größeren.</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/template.py"/>
        <source>This model knows no system role; its text was put before the question.</source>
        <translation>Dieses Modell kennt keine Systemrolle; deren Text wurde vor die Frage gesetzt.</translation>
    </message>
    <message>
        <location filename="../../app/engine/sameness/promise.py"/>
        <source>This model runs without speculation, so there is no strategy that a text could depend on.</source>
        <translation>Dieses Modell läuft ohne Spekulation, darum gibt es keine Strategie, von der ein Text abhängen könnte.</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/template.py"/>
        <source>This model wants questions and replies in turns: neighbours of one role were put together, and replies before the first question left out.</source>
        <translation>Dieses Modell will Fragen und Antworten abwechselnd: Nachbarn derselben Rolle wurden zusammengefügt, und Antworten vor der ersten Frage weggelassen.</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/template.py"/>
        <source>This model's chat template cannot write these tools, so they, their calls and results were put into the prompt as text.</source>
        <translation>Die Chat-Vorlage dieses Modells kann diese Werkzeuge nicht schreiben; daher stehen sie mit ihren Aufrufen und Ergebnissen als Text im Prompt.</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/template.py"/>
        <source>This model's chat template leaves out what the model said beside a call of a tool.</source>
        <translation>Die Chat-Vorlage dieses Modells lässt weg, was das Modell neben dem Aufruf eines Werkzeugs gesagt hat.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/states.py"/>
        <source>This model's state is copied before each draft. After a wrong guess the tokens before it are decoded once more.</source>
        <translation>Der Zustand dieses Modells wird vor jedem Entwurf kopiert. Nach einer falschen Vermutung werden die Token davor noch einmal dekodiert.</translation>
    </message>
    <message>
        <location filename="../../app/engine/request.py"/>
        <source>This reply cannot be continued: {why}.</source>
        <translation>Diese Antwort kann nicht fortgesetzt werden: {why}.</translation>
    </message>
    <message>
        <location filename="../../app/engine/refusals.py"/>
        <source>This reply is not running any more.</source>
        <translation>Diese Antwort läuft nicht mehr.</translation>
    </message>
    <message>
        <location filename="../../app/chat/sameness.py"/>
        <source>This reply was continued, so it was not written in one turn.</source>
        <translation>Diese Antwort wurde fortgesetzt, also nicht in einem Zug geschrieben.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/registry.py"/>
        <source>This strategy is no drafter of its own.</source>
        <translation>Diese Strategie ist kein eigener Entwerfer.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/states.py"/>
        <source>This {part} has a recurrent memory, and copies of its state find no room or do not work here, so it cannot take tokens back.</source>
        <translation>Dieses {part} hat einen rekurrenten Speicher, und Kopien seines Zustands finden keinen Platz oder arbeiten hier nicht, darum kann es keine Token zurücknehmen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Threads</source>
        <translation>Threads</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Threads for batches</source>
        <translation>Threads für Stapel</translation>
    </message>
    <message>
        <location filename="../../app/engine/request.py"/>
        <source>Token {token} does not exist: the vocabulary has {n_tokens:,} tokens.</source>
        <translation>Token {token} gibt es nicht: Das Vokabular hat {n_tokens:,} Token.</translation>
    </message>
    <message>
        <location filename="../../app/engine/sample/sampling.py"/>
        <source>Token {token} has two logit biases.</source>
        <translation>Token {token} hat zwei Logit-Verschiebungen.</translation>
    </message>
    <message>
        <location filename="../../app/gui/sampling/sampling_settings.py"/>
        <source>Token {token} is given twice.</source>
        <translation>Token {token} ist zweimal angegeben.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>Too short for Auto to learn what drafts cost.</source>
        <translation>Zu kurz, um zu lernen, was Entwürfe kosten.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Top-k</source>
        <translation>Top-k</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>Top-p</source>
        <translation>Top-p</translation>
    </message>
    <message>
        <location filename="../../app/catalog/download/transfer.py"/>
        <source>Try again later or from another network; the damaged file was deleted.</source>
        <translation>Versuchen Sie es später oder aus einem anderen Netzwerk noch einmal; die beschädigte Datei wurde gelöscht.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>Try again later.</source>
        <translation>Versuchen Sie es später noch einmal.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/inspect/inspector.py"/>
        <source>Try again when it is complete.</source>
        <translation>Versuchen Sie es noch einmal, wenn sie vollständig ist.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <location filename="../../app/engine/model/rpc_servers.py"/>
        <source>Try again.</source>
        <translation>Versuchen Sie es noch einmal.</translation>
    </message>
    <message>
        <location filename="../../app/engine/pair.py"/>
        <source>Try again: the models are loaded anew. If that fails, download the file anew.</source>
        <translation>Versuchen Sie es noch einmal: Die Modelle werden neu geladen. Wenn das fehlschlägt, laden Sie die Datei neu herunter.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>Try again; if that does not help, check the network connection.</source>
        <translation>Versuchen Sie es noch einmal; wenn das nicht hilft, prüfen Sie die Netzwerkverbindung.</translation>
    </message>
    <message>
        <location filename="../../app/chat/advice.py"/>
        <source>Try {strategy}: {what}.</source>
        <translation>Versuchen Sie {strategy}: {what}.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/download/names.py"/>
        <source>Two files of this download would both be called {name}.</source>
        <translation>Zwei Dateien dieses Downloads würden beide {name} heißen.</translation>
    </message>
    <message>
        <location filename="../../app/chat/advice.py"/>
        <source>Two tokens take {two:ratio} the time of one, four take {four:ratio}. Auto drafts nothing then.</source>
        <translation>Zwei Token brauchen {two:ratio} der Zeit von einem, vier brauchen {four:ratio}. Auto entwirft dann nichts.</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/reading.py"/>
        <source>Unpack it and import the files in it.</source>
        <translation>Entpacken Sie es, und importieren Sie die Dateien darin.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/registry.py"/>
        <source>Update or uninstall it.</source>
        <translation>Aktualisieren oder deinstallieren Sie es.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/registry.py"/>
        <source>Use it by itself.</source>
        <translation>Verwenden Sie sie für sich allein.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/draft_search.py"/>
        <source>Use lookups, which draft from the chat itself and need no draft model.</source>
        <translation>Nachschlagen verwenden, das aus dem Chat selbst entwirft und kein Entwurfsmodell braucht.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/draft_search.py"/>
        <source>Use lookups, which draft from the chat itself: beside so small a model a draft model has little to save.</source>
        <translation>Nachschlagen verwenden, das aus dem Chat selbst entwirft: Neben einem so kleinen Modell kann ein Entwurfsmodell wenig sparen.</translation>
    </message>
    <message>
        <location filename="../../app/engine/turn.py"/>
        <source>Use the strategy “off” with it.</source>
        <translation>Verwenden Sie mit ihm die Strategie „off“.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/params.py"/>
        <source>V cache</source>
        <translation>V-Cache</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>Wait a few minutes, then try again; with an access token more is allowed.</source>
        <translation>Warten Sie einige Minuten, und versuchen Sie es dann noch einmal; mit einem Zugriffstoken ist mehr erlaubt.</translation>
    </message>
    <message>
        <location filename="../../app/chat/sameness.py"/>
        <source>Wait for its end, or stop it.</source>
        <translation>Warten Sie auf ihr Ende, oder stoppen Sie sie.</translation>
    </message>
    <message>
        <location filename="../../app/chat/sameness.py"/>
        <source>Wait until it has ended.</source>
        <translation>Warten Sie, bis sie zu Ende ist.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/download/part_file.py"/>
        <source>Wait until it is done there, or pause it there.</source>
        <translation>Warten Sie, bis es dort fertig ist, oder halten Sie es dort an.</translation>
    </message>
    <message>
        <location filename="../../app/hosting/supervisor.py"/>
        <source>Wait {refused_s:.0f} seconds; then take other models or settings, or try again.</source>
        <translation>Warten Sie {refused_s:.0f} Sekunden; nehmen Sie dann andere Modelle oder Einstellungen, oder versuchen Sie es noch einmal.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>Wait {time}, then try again.</source>
        <translation>Warten Sie {time}, und versuchen Sie es dann noch einmal.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/memory_hints.py"/>
        <source>What can help: {ways}.</source>
        <translation>Was helfen kann: {ways}.</translation>
    </message>
    <message>
        <location filename="../../app/storage/problems.py"/>
        <source>What is new is kept in memory and tried again every two seconds.</source>
        <translation>Neues wird im Speicher gehalten und alle zwei Sekunden noch einmal versucht.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/rpc_servers.py"/>
        <source>What listens at {server} does not speak the protocol of llama.cpp's RPC servers.</source>
        <translation>Was unter {server} antwortet, spricht nicht das Protokoll der RPC-Server von llama.cpp.</translation>
    </message>
    <message>
        <location filename="../../app/bench/runner.py"/>
        <source>What steps cost could not be measured, so Auto had to learn it: {problem}</source>
        <translation>Was Schritte kosten, konnte nicht gemessen werden, sodass Auto es lernen musste: {problem}</translation>
    </message>
    <message>
        <location filename="../../app/bench/runner.py"/>
        <source>What steps cost could not be measured: {problem}</source>
        <translation>Was Schritte kosten, konnte nicht gemessen werden: {problem}</translation>
    </message>
    <message>
        <location filename="../../app/run_record.py"/>
        <source>What was there is kept. Continue the reply to have all of it.</source>
        <translation>Was da war, ist aufgehoben. Setzen Sie die Antwort fort, um sie ganz zu haben.</translation>
    </message>
    <message>
        <location filename="../../app/bench/verdict.py"/>
        <source>Whether guessing pays cannot be told: a quarter of the repeats with {name} reach {high:ratio}, others do not; more of them would tell.</source>
        <translation>Ob sich Raten lohnt, lässt sich nicht sagen: Ein Viertel der Wiederholungen mit {name} erreicht {high:ratio}, andere nicht; mehr davon würden es zeigen.</translation>
    </message>
    <message>
        <location filename="../../app/engine/sameness/promise.py"/>
        <source>Whether the same turn gives the same text with any strategy is not known yet; it is looked at in idle time, and by `paceline calibrate`.</source>
        <translation>Ob derselbe Beitrag mit jeder Strategie denselben Text ergibt, ist noch nicht bekannt; es wird geprüft, wenn nichts zu tun ist, und durch `paceline calibrate`.</translation>
    </message>
    <message>
        <location filename="../../app/engine/sameness/promise.py"/>
        <source>Whether the same turn gives the same text with any strategy is not known: this model's memory overwrites what is far back, so rows are not compared.</source>
        <translation>Ob derselbe Beitrag mit jeder Strategie denselben Text ergibt, ist nicht bekannt: Der Speicher dieses Modells überschreibt weit Zurückliegendes, darum werden keine Zeilen verglichen.</translation>
    </message>
    <message>
        <location filename="../../app/engine/sameness/promise.py"/>
        <source>With each prompt the last reply and up to {n} tokens more are prefilled again.</source>
        <translation>Mit jedem Prompt werden die letzte Antwort und bis zu {n} Token mehr noch einmal eingelesen.</translation>
    </message>
    <message>
        <location filename="../../app/chat/advice.py"/>
        <source>Without the draft model {size:size} more would be free.</source>
        <translation>Ohne das Entwurfsmodell wären {size:size} mehr frei.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/values.py"/>
        <source>Write hf:OWNER/REPO:FILE, for example hf:Qwen/Qwen3-0.6B-GGUF:Qwen3-0.6B-Q8_0.gguf.</source>
        <translation>Schreiben Sie hf:OWNER/REPO:DATEI, zum Beispiel hf:Qwen/Qwen3-0.6B-GGUF:Qwen3-0.6B-Q8_0.gguf.</translation>
    </message>
    <message>
        <location filename="../../app/chat/presets.py"/>
        <source>Write it anew.</source>
        <translation>Schreiben Sie ihn neu.</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/conversation.py"/>
        <source>Write something first.</source>
        <translation>Schreiben Sie erst etwas.</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/conversation.py"/>
        <source>Write them as a JSON object of at most {deepest} levels.</source>
        <translation>Schreibe sie als JSON-Objekt mit höchstens {deepest} Ebenen.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/strategy.py"/>
        <source>Write {key}={default:g}, for example.</source>
        <translation>Schreiben Sie zum Beispiel {key}={default:g}.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>Written without drafts, to see how fast the model is alone.</source>
        <translation>Ohne Entwürfe geschrieben, um zu sehen, wie schnell das Modell allein ist.</translation>
    </message>
    <message>
        <location filename="../../app/paths.py"/>
        <source>Your home folder is not known.</source>
        <translation>Ihr persönlicher Ordner ist nicht bekannt.</translation>
    </message>
    <message>
        <location filename="../../app/installation/remedies.py"/>
        <source>`paceline doctor --build-kernels` builds Paceline's native code where there is a C++ compiler.</source>
        <translation>`paceline doctor --build-kernels` baut den nativen Code von Paceline, wo es einen C++-Compiler gibt.</translation>
    </message>
    <message>
        <location filename="../../app/installation/remedies.py"/>
        <source>`paceline doctor --build-kernels` has them tested again.</source>
        <translation>`paceline doctor --build-kernels` lässt sie noch einmal prüfen.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/listing.py"/>
        <source>`paceline hub files {repo}` lists what it has.</source>
        <translation>`paceline hub files {repo}` listet auf, was es hat.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/curated.py"/>
        <source>a GPU</source>
        <translation>eine GPU</translation>
    </message>
    <message>
        <location filename="../../app/chat/attachments.py"/>
        <source>a PDF</source>
        <translation>ein PDF</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/own_kernels.py"/>
        <source>a computation that hung</source>
        <translation>eine Berechnung, die hing</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/memory_hints.py"/>
        <source>a context of {n_ctx:,} tokens or fewer</source>
        <translation>ein Kontext von höchstens {n_ctx:,} Token</translation>
    </message>
    <message>
        <location filename="../../app/chat/attachments.py"/>
        <source>a database</source>
        <translation>eine Datenbank</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/draft_search.py"/>
        <source>a file</source>
        <translation>eine Datei</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/curated.py"/>
        <source>a kind of drafter</source>
        <translation>eine Art von Entwerfer</translation>
    </message>
    <message>
        <location filename="../../app/codec.py"/>
        <source>a list</source>
        <translation>eine Liste</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/listing.py"/>
        <source>a list of models was expected</source>
        <translation>eine Liste von Modellen wurde erwartet</translation>
    </message>
    <message>
        <location filename="../../app/run_record.py"/>
        <source>a list of numbers</source>
        <translation>eine Liste von Zahlen</translation>
    </message>
    <message>
        <location filename="../../app/run_record.py"/>
        <source>a list of texts</source>
        <translation>eine Liste von Texten</translation>
    </message>
    <message>
        <location filename="../../app/run_record.py"/>
        <source>a list of whole numbers</source>
        <translation>eine Liste ganzer Zahlen</translation>
    </message>
    <message>
        <location filename="../../app/codec.py"/>
        <source>a list of {n}</source>
        <translation>eine Liste von {n}</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/memory_hints.py"/>
        <source>a load without repacking (no second copy of the weights)</source>
        <translation>ein Laden ohne Umpacken (keine zweite Kopie der Gewichte)</translation>
    </message>
    <message>
        <location filename="../../app/chat/attachments.py"/>
        <source>a model</source>
        <translation>ein Modell</translation>
    </message>
    <message>
        <location filename="../../app/codec.py"/>
        <location filename="../../app/parameters.py"/>
        <source>a number</source>
        <translation>eine Zahl</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/gbnf.py"/>
        <source>a number is expected</source>
        <translation>eine Zahl wird erwartet</translation>
    </message>
    <message>
        <location filename="../../app/codec.py"/>
        <source>a number that fits</source>
        <translation>eine Zahl, die passt</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/grammar.py"/>
        <source>a pattern is too complex</source>
        <translation>ein Muster ist zu komplex</translation>
    </message>
    <message>
        <location filename="../../app/chat/attachments.py"/>
        <source>a picture</source>
        <translation>ein Bild</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/curated.py"/>
        <source>a processor</source>
        <translation>einen Prozessor</translation>
    </message>
    <message>
        <location filename="../../app/chat/attachments.py"/>
        <source>a program</source>
        <translation>ein Programm</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/memory_hints.py"/>
        <source>a quantised cache</source>
        <translation>ein quantisierter Cache</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/gbnf.py"/>
        <source>a range of characters runs backwards</source>
        <translation>ein Bereich von Zeichen läuft rückwärts</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/listing.py"/>
        <source>a repository's page was expected</source>
        <translation>die Seite eines Repositorys wurde erwartet</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/document.py"/>
        <source>a schema is a JSON object, as {“type”: “object”, …}</source>
        <translation>ein Schema ist ein JSON-Objekt, wie {“type”: “object”, …}</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/memory_hints.py"/>
        <source>a smaller model</source>
        <translation>ein kleineres Modell</translation>
    </message>
    <message>
        <location filename="../../app/codec.py"/>
        <source>a text</source>
        <translation>ein Text</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/gbnf.py"/>
        <source>a text in quotes</source>
        <translation>ein Text in Anführungszeichen</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/stream.py"/>
        <source>a web page came instead of the file</source>
        <translation>eine Webseite kam statt der Datei</translation>
    </message>
    <message>
        <location filename="../../app/codec.py"/>
        <location filename="../../app/parameters.py"/>
        <source>a whole number</source>
        <translation>eine ganze Zahl</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/grammar.py"/>
        <source>a “$ref” leads back to itself beside other keywords</source>
        <translation>ein „$ref“ führt neben anderen Schlüsselwörtern zu sich selbst zurück</translation>
    </message>
    <message>
        <location filename="../../app/hosting/prompt_wait.py"/>
        <source>about {time} left</source>
        <translation>noch etwa {time}</translation>
    </message>
    <message>
        <location filename="../../app/parameters.py"/>
        <source>above {low} and at most {high}</source>
        <translation>über {low} und höchstens {high}</translation>
    </message>
    <message>
        <location filename="../../app/chat/attachments.py"/>
        <source>an archive</source>
        <translation>ein Archiv</translation>
    </message>
    <message>
        <location filename="../../app/chat/attachments.py"/>
        <source>an archive or an office document</source>
        <translation>ein Archiv oder ein Office-Dokument</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/difference.py"/>
        <source>an earlier reply changed: {change}</source>
        <translation>eine frühere Antwort anders ist: {change}</translation>
    </message>
    <message>
        <location filename="../../app/codec.py"/>
        <location filename="../../app/run_record.py"/>
        <source>an object</source>
        <translation>ein Objekt</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/own_kernels.py"/>
        <source>an unknown kernel</source>
        <translation>ein unbekannter Kernel</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/difference.py"/>
        <source>another chat template was chosen</source>
        <translation>eine andere Chat-Vorlage gewählt wurde</translation>
    </message>
    <message>
        <location filename="../../app/catalog/sidecar.py"/>
        <location filename="../../app/engine/draft/lookups/lookup_cache.py"/>
        <source>another model</source>
        <translation>ein anderes Modell</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/stream.py"/>
        <source>another part of the file came than was asked for</source>
        <translation>ein anderer Teil der Datei kam als verlangt</translation>
    </message>
    <message>
        <location filename="../../app/catalog/download/journal.py"/>
        <source>another version</source>
        <translation>eine andere Version</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/difference.py"/>
        <source>another way to reason was chosen</source>
        <translation>anders überlegt werden soll</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/curated.py"/>
        <source>any machine</source>
        <translation>jeden Rechner</translation>
    </message>
    <message>
        <location filename="../../app/resources/curated_pairs.json"/>
        <source>at best of 66 settings on a B200, 1.12 times as fast with lookups of n-grams (Qwen3.5 0.8B), and 1.00 (2B)</source>
        <translation>bei der besten von 66 Einstellungen auf einer B200 1,12-mal so schnell mit Nachschlagen von N-Grammen (Qwen3.5 0.8B), und 1,00-mal (2B)</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/gbnf.py"/>
        <source>at least {least} and at most {most} times contradict</source>
        <translation>mindestens {least}-mal und höchstens {most}-mal widersprechen sich</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/translation.py"/>
        <source>at least {lost} % fewer</source>
        <translation>mindestens {lost} % weniger</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/curated.py"/>
        <source>at temperature {n:g}</source>
        <translation>bei Temperatur {n:g}</translation>
    </message>
    <message>
        <location filename="../../app/catalog/memory/plan.py"/>
        <source>automatic GPU layers</source>
        <translation>automatische GPU-Schichten</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/vocabularies.py"/>
        <source>begins</source>
        <translation>beginnt</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/gbnf.py"/>
        <source>brackets are nested more than {n:,} deep</source>
        <translation>Klammern sind tiefer als {n:,} verschachtelt</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/vocabularies.py"/>
        <source>byte-pair encoding</source>
        <translation>Byte-Pair-Kodierung</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/objects.py"/>
        <source>cannot be enforced beside names in no ASCII</source>
        <translation>kann neben Namen, die nicht aus ASCII-Zeichen bestehen, nicht durchgesetzt werden</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/arrays.py"/>
        <location filename="../../app/engine/schema/objects.py"/>
        <source>cannot be enforced beside other parts</source>
        <translation>kann neben anderen Teilen nicht durchgesetzt werden</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/arrays.py"/>
        <location filename="../../app/engine/schema/lowering.py"/>
        <location filename="../../app/engine/schema/numbers.py"/>
        <source>cannot be enforced beyond {n:,}</source>
        <translation>kann über {n:,} hinaus nicht durchgesetzt werden</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/arrays.py"/>
        <location filename="../../app/engine/schema/objects.py"/>
        <source>cannot be enforced beyond {n}</source>
        <translation>kann über {n} hinaus nicht durchgesetzt werden</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/lowering.py"/>
        <source>cannot be enforced for all of {divisors:.170}</source>
        <translation>kann nicht für alle von {divisors:.170} durchgesetzt werden</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/lowering.py"/>
        <source>cannot be enforced for more than {n} different numbers</source>
        <translation>kann nicht für mehr als {n} verschiedene Zahlen durchgesetzt werden</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/objects.py"/>
        <source>cannot be enforced for names that are not listed</source>
        <translation>kann für Namen, die nicht aufgezählt sind, nicht durchgesetzt werden</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/objects.py"/>
        <source>cannot be enforced for {n} properties</source>
        <translation>kann für {n} Eigenschaften nicht durchgesetzt werden</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/arrays.py"/>
        <source>cannot be enforced for {n} values</source>
        <translation>kann für {n} Werte nicht durchgesetzt werden</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/negation.py"/>
        <source>cannot be enforced here</source>
        <translation>kann hier nicht durchgesetzt werden</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/lowering.py"/>
        <source>cannot be enforced where several places have its anchor</source>
        <translation>kann nicht durchgesetzt werden, wo mehrere Stellen seinen Anker haben</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/arrays.py"/>
        <source>cannot be enforced, but for a few values as “enum”</source>
        <translation>kann nicht durchgesetzt werden, außer für wenige Werte als „enum“</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/objects.py"/>
        <source>cannot be enforced, but for names or one pattern</source>
        <translation>kann nicht durchgesetzt werden, außer für Namen oder ein Muster</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/lowering.py"/>
        <location filename="../../app/engine/schema/objects.py"/>
        <source>cannot be enforced: {error}</source>
        <translation>kann nicht durchgesetzt werden: {error}</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/numbers.py"/>
        <source>cannot be enforced: {value} has too many digits</source>
        <translation>kann nicht durchgesetzt werden: {value} hat zu viele Stellen</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/numbers.py"/>
        <source>cannot be enforced: {value} is too large</source>
        <translation>kann nicht durchgesetzt werden: {value} ist zu groß</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/lowering.py"/>
        <source>cannot be enforced: “{name}”</source>
        <translation>kann nicht durchgesetzt werden: „{name}“</translation>
    </message>
    <message>
        <location filename="../../app/codec.py"/>
        <source>cannot be {value:.60}</source>
        <translation>kann nicht {value:.60} sein</translation>
    </message>
    <message>
        <location filename="../../app/chat/advice.py"/>
        <source>checking several tokens takes about as long here as writing them</source>
        <translation>mehrere Token zu prüfen dauert hier etwa so lang, wie sie zu schreiben</translation>
    </message>
    <message>
        <location filename="../../app/installation/package.py"/>
        <source>checkout</source>
        <translation>Arbeitskopie der Quellen</translation>
    </message>
    <message>
        <location filename="../../app/catalog/sidecar.py"/>
        <source>choose it as that model's drafter</source>
        <translation>wählen Sie ihn als Entwerfer jenes Modells</translation>
    </message>
    <message>
        <location filename="../../app/resources/curated_pairs.json"/>
        <source>code, JSON and lists</source>
        <translation>Code, JSON und Listen</translation>
    </message>
    <message>
        <location filename="../../app/resources/curated_pairs.json"/>
        <source>code, prose and shell</source>
        <translation>Code, Prosa und Shell</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/model_params.py"/>
        <source>context of {n_ctx:,} tokens for “{name}”</source>
        <translation>Kontext von {n_ctx:,} Token für „{name}“</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/chat_json.py"/>
        <source>counts what cannot be counted</source>
        <translation>zählt, was nicht zu zählen ist</translation>
    </message>
    <message>
        <location filename="../../app/workers/ends.py"/>
        <source>crashed, {signal}</source>
        <translation>abgestürzt, {signal}</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/document.py"/>
        <source>differs from that of the whole</source>
        <translation>unterscheidet sich von dem des Ganzen</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/document.py"/>
        <source>does not lead to a part of the schema: “{reference}”</source>
        <translation>führt nicht zu einem Teil des Schemas: „{reference}“</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/document.py"/>
        <source>does not lead to a schema: “{reference}”</source>
        <translation>führt nicht zu einem Schema: „{reference}“</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <location filename="../../app/engine/draft/draft_model.py"/>
        <location filename="../../app/engine/model/vocabularies.py"/>
        <location filename="../../app/engine/turn.py"/>
        <source>draft model</source>
        <translation>Entwurfsmodell</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>drafted first in {share} of the steps, {n:,} of {judged:,} guesses were right</source>
        <translation>entwarf als Erstes in {share} der Schritte, {n:,} von {judged:,} Vermutungen waren richtig</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>drafting paid</source>
        <translation>Entwurf lohnte sich</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>drafting paused</source>
        <translation>Entwürfe pausierten</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>drafting tried</source>
        <translation>Entwurf versucht</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>drafts cost too much</source>
        <translation>Entwürfe kosten zu viel</translation>
    </message>
    <message>
        <location filename="../../app/chat/advice.py"/>
        <source>drafts end where their drafter is unsure</source>
        <translation>Entwürfe enden, wo ihr Entwerfer unsicher ist</translation>
    </message>
    <message>
        <location filename="../../app/chat/advice.py"/>
        <source>drafts go on for longer</source>
        <translation>Entwürfe gehen länger weiter</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/difference.py"/>
        <source>earlier messages were left out</source>
        <translation>frühere Nachrichten weggelassen wurden</translation>
    </message>
    <message>
        <location filename="../../app/workers/ends.py"/>
        <source>ended with exit code {code}</source>
        <translation>mit dem Code {code} geendet</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/vocabularies.py"/>
        <source>ends</source>
        <translation>endet</translation>
    </message>
    <message>
        <location filename="../../app/engine/last_prompts.py"/>
        <source>exact mode goes on from whole pieces of a prompt alone</source>
        <translation>der exakte Modus nur an ganzen Stücken eines Prompts weitermacht</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/gbnf.py"/>
        <source>expressions are nested more than {n} deep</source>
        <translation>Ausdrücke sind mehr als {n} tief verschachtelt</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/translation.py"/>
        <source>fewer</source>
        <translation>weniger</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/memory_hints.py"/>
        <source>fewer other programs at the same time</source>
        <translation>weniger andere Programme zur gleichen Zeit</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>first steps</source>
        <translation>erste Schritte</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/imported.py"/>
        <source>follow one another in a circle</source>
        <translation>folgen einander im Kreis</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/imported.py"/>
        <source>follow {name:.60}, which is not there</source>
        <translation>folgen auf {name:.60}, was nicht da ist</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>forced by the grammar</source>
        <translation>von der Grammatik erzwungen</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/chat_json.py"/>
        <source>format {n}, known: {known}</source>
        <translation>Format {n}, bekannt: {known}</translation>
    </message>
    <message>
        <location filename="../../app/parameters.py"/>
        <source>from {low} to {high}</source>
        <translation>von {low} bis {high}</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/patterns.py"/>
        <source>half of a surrogate pair is no character</source>
        <translation>die Hälfte eines Surrogatpaars ist kein Zeichen</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/constants.py"/>
        <source>has a character that cannot be written: {code:#06x}</source>
        <translation>hat ein Zeichen, das nicht geschrieben werden kann: {code:#06x}</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/constants.py"/>
        <source>has a number that cannot be written: {value}</source>
        <translation>hat eine Zahl, die nicht geschrieben werden kann: {value}</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/chat_json.py"/>
        <source>has a number that does not fit</source>
        <translation>hat eine Zahl, die nicht passt</translation>
    </message>
    <message>
        <location filename="../../app/run_record.py"/>
        <source>has a number that is none of a name</source>
        <translation>hat eine Zahl, zu der es keinen Namen gibt</translation>
    </message>
    <message>
        <location filename="../../app/run_record.py"/>
        <source>has a number that is none of a step</source>
        <translation>hat eine Zahl, zu der es keinen Schritt gibt</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/chat_json.py"/>
        <source>has a run already</source>
        <translation>hat schon ein Protokoll</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/chat_json.py"/>
        <source>has a token that cannot be</source>
        <translation>hat ein Token, das es nicht geben kann</translation>
    </message>
    <message>
        <location filename="../../app/run_record.py"/>
        <source>has fewer than no tokens</source>
        <translation>hat weniger als null Token</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/chat_json.py"/>
        <source>has more than {n:,} characters</source>
        <translation>hat mehr als {n:,} Zeichen</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/chat_json.py"/>
        <location filename="../../app/chat/exchange/imported.py"/>
        <source>has more than {n:,} entries</source>
        <translation>hat mehr als {n:,} Einträge</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/programs/llama_cpp.py"/>
        <source>has no id</source>
        <translation>hat keine ID</translation>
    </message>
    <message>
        <location filename="../../app/run_record.py"/>
        <source>has no reason of Auto's ({name:.60})</source>
        <translation>hat keinen Grund von Auto ({name:.60})</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/programs/lm_studio.py"/>
        <source>has no versions</source>
        <translation>hat keine Fassungen</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/lowering.py"/>
        <source>has options that cannot be told apart</source>
        <translation>hat Alternativen, die nicht unterschieden werden können</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/lowering.py"/>
        <source>has too many options that overlap</source>
        <translation>hat zu viele Alternativen, die sich überschneiden</translation>
    </message>
    <message>
        <location filename="../../app/run_record.py"/>
        <source>has {n_column:,} values instead of {n:,}</source>
        <translation>hat {n_column:,} Werte statt {n:,}</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/imported.py"/>
        <source>have more than {n:,} characters</source>
        <translation>haben mehr als {n:,} Zeichen</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/imported.py"/>
        <source>have more than {n:,} files</source>
        <translation>haben mehr als {n:,} Dateien</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/kernel_library.py"/>
        <location filename="../../app/workers/ends.py"/>
        <source>hung</source>
        <translation>hing</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/curated.py"/>
        <source>inside the model's file</source>
        <translation>in der Datei des Modells</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/chat_json.py"/>
        <source>is beyond all sense</source>
        <translation>ist jenseits alles Sinnvollen</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/chat_json.py"/>
        <source>is empty</source>
        <translation>ist leer</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/arrays.py"/>
        <source>is greater than “maxContains”</source>
        <translation>ist größer als „maxContains“</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/arrays.py"/>
        <source>is greater than “maxItems”</source>
        <translation>ist größer als „maxItems“</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/lowering.py"/>
        <source>is greater than “maxLength”</source>
        <translation>ist größer als „maxLength“</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/chat_json.py"/>
        <location filename="../../app/codec.py"/>
        <source>is missing</source>
        <translation>fehlt</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/chat_json.py"/>
        <source>is no figure</source>
        <translation>ist kein Messwert</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/chat_json.py"/>
        <source>is no size</source>
        <translation>ist keine Größe</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/chat_json.py"/>
        <source>is no time</source>
        <translation>ist keine Zeit</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/chat_json.py"/>
        <source>is not a list</source>
        <translation>ist keine Liste</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/chat_json.py"/>
        <source>is not a number from 0 to 2^64</source>
        <translation>ist keine Zahl von 0 bis 2^64</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/chat_json.py"/>
        <source>is not a number from 1 on</source>
        <translation>ist keine Zahl ab 1</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/programs/chatgpt.py"/>
        <location filename="../../app/chat/exchange/programs/open_webui.py"/>
        <source>is not an object</source>
        <translation>ist kein Objekt</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/document.py"/>
        <source>is not as schemas have it: {reason}</source>
        <translation>ist nicht so, wie Schemas es haben: {reason}</translation>
    </message>
    <message>
        <location filename="../../app/codec.py"/>
        <source>is not known</source>
        <translation>ist nicht bekannt</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/chat_json.py"/>
        <source>is not “{name}”</source>
        <translation>ist nicht „{name}“</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/grammar.py"/>
        <source>it cannot be carried out</source>
        <translation>sie kann nicht ausgeführt werden</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/gbnf.py"/>
        <source>it contains a NUL character</source>
        <translation>der Text enthält ein NUL-Zeichen</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/gbnf.py"/>
        <source>it contains half of a surrogate pair</source>
        <translation>der Text enthält die Hälfte eines Surrogatpaars</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/values.py"/>
        <source>it does not begin with hf:OWNER/REPO</source>
        <translation>es beginnt nicht mit hf:OWNER/REPO</translation>
    </message>
    <message>
        <location filename="../../app/catalog/download/journal.py"/>
        <source>it does not fit together</source>
        <translation>es passt nicht zusammen</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/client.py"/>
        <source>it does not say which file this is</source>
        <translation>es sagt nicht, welche Datei das ist</translation>
    </message>
    <message>
        <location filename="../../app/engine/request.py"/>
        <source>it ended where the model began the next turn</source>
        <translation>sie endete, wo das Modell den nächsten Beitrag begann</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/template.py"/>
        <source>it failed before</source>
        <translation>sie ist schon vorher gescheitert</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/document.py"/>
        <source>it has a list of more than {n:,} values of any kind</source>
        <translation>es hat eine Liste von mehr als {n:,} Werten beliebiger Art</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/document.py"/>
        <source>it has a number that is too large</source>
        <translation>es hat eine Zahl, die zu groß ist</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/gbnf.py"/>
        <source>it has more than {n:,} characters</source>
        <translation>sie hat mehr als {n:,} Zeichen</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/gbnf.py"/>
        <source>it has more than {n:,} rules</source>
        <translation>sie hat mehr als {n:,} Regeln</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/document.py"/>
        <source>it has more than {n} kB</source>
        <translation>es hat mehr als {n} kB</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/lowering.py"/>
        <source>it has too many parts within each other</source>
        <translation>es hat zu viele Teile ineinander</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/document.py"/>
        <location filename="../../app/engine/schema/lowering.py"/>
        <source>it has too many parts, or options that multiply</source>
        <translation>es hat zu viele Teile, oder Alternativen, die sich vervielfachen</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/patterns.py"/>
        <source>it has too many ways to begin and to end</source>
        <translation>es hat zu viele Arten, zu beginnen und zu enden</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/gbnf.py"/>
        <source>it is empty</source>
        <translation>sie ist leer</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/document.py"/>
        <source>it is nested more than {n} deep</source>
        <translation>es ist tiefer als {n} verschachtelt</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/document.py"/>
        <location filename="../../app/engine/schema/patterns.py"/>
        <source>it is nested too deep</source>
        <translation>es ist zu tief verschachtelt</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/document.py"/>
        <source>it is no JSON: line {lineno}, column {colno}: {msg}</source>
        <translation>es ist kein JSON: Zeile {lineno}, Spalte {colno}: {msg}</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/document.py"/>
        <source>it is no JSON: {error}</source>
        <translation>es ist kein JSON: {error}</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/values.py"/>
        <source>it is no address</source>
        <translation>es ist keine Adresse</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/patterns.py"/>
        <source>it is no regular expression ({error})</source>
        <translation>es ist kein regulärer Ausdruck ({error})</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/grammar.py"/>
        <source>it is too large or too complex</source>
        <translation>der Text ist zu groß oder zu komplex</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/session.py"/>
        <source>it leads to an address without encryption</source>
        <translation>es führt zu einer Adresse ohne Verschlüsselung</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/client.py"/>
        <source>it leads to no address</source>
        <translation>es führt zu keiner Adresse</translation>
    </message>
    <message>
        <location filename="../../app/chat/advice.py"/>
        <source>it needs no second model; a smaller draft model may do, too</source>
        <translation>sie braucht kein zweites Modell; auch ein kleineres Entwurfsmodell kann genügen</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/renderer.py"/>
        <source>it ran longer than {seconds} seconds</source>
        <translation>sie lief länger als {seconds} Sekunden</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/renderer.py"/>
        <location filename="../../app/engine/prompt/sandbox.py"/>
        <source>it took too much memory</source>
        <translation>sie brauchte zu viel Speicher</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/sandbox.py"/>
        <source>it wrote too much</source>
        <translation>sie schrieb zu viel</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/kernel_library.py"/>
        <location filename="../../app/engine/prompt/renderer.py"/>
        <source>its process {end}</source>
        <translation>sein Prozess {end}</translation>
    </message>
    <message>
        <location filename="../../app/engine/request.py"/>
        <source>its text does not have the form that is asked for</source>
        <translation>ihr Text hat nicht die Form, die verlangt ist</translation>
    </message>
    <message>
        <location filename="../../app/engine/request.py"/>
        <source>its text holds control tokens, and is not what the loaded model wrote</source>
        <translation>ihr Text enthält Steuertoken und ist nicht, was das geladene Modell geschrieben hat</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/draft_search.py"/>
        <source>its vocabulary was checked</source>
        <translation>sein Vokabular wurde geprüft</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/draft_search.py"/>
        <source>its vocabulary will be checked before anything is downloaded</source>
        <translation>sein Vokabular wird geprüft, bevor etwas heruntergeladen wird</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/vocabularies.py"/>
        <source>kind {kind}</source>
        <translation>Art {kind}</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/lowering.py"/>
        <source>leads to itself before anything is said</source>
        <translation>führt zu sich selbst, bevor etwas gesagt ist</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/numbers.py"/>
        <source>leaves no number, with what stands beside it</source>
        <translation>lässt mit dem, was daneben steht, keine Zahl übrig</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/lowering.py"/>
        <source>leaves no value</source>
        <translation>lässt keinen Wert übrig</translation>
    </message>
    <message>
        <location filename="../../app/catalog/fetching.py"/>
        <source>less came than was asked for</source>
        <translation>es kam weniger als verlangt</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <source>less than 1 %</source>
        <translation>weniger als 1 %</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/difference.py"/>
        <source>line {line} of the prompt changed: {change}</source>
        <translation>Zeile {line} des Prompts anders ist: {change}</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/difference.py"/>
        <source>line {line} of the system prompt changed: {change}</source>
        <translation>Zeile {line} des Systemprompts anders ist: {change}</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/gbnf.py"/>
        <source>line {line}, column {column}: {what}</source>
        <translation>Zeile {line}, Spalte {column}: {what}</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/model_params.py"/>
        <source>llama.cpp cannot make a {what}: {why}.</source>
        <translation>llama.cpp kann keinen {what} anlegen: {why}.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/placement.py"/>
        <source>llama.cpp cannot put “{name}” on these devices: {why}.</source>
        <translation>llama.cpp kann „{name}“ nicht auf diese Geräte legen: {why}.</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/model.py"/>
        <source>llama.cpp could not compute (code {code}): {why}.</source>
        <translation>llama.cpp konnte nicht rechnen (Code {code}): {why}.</translation>
    </message>
    <message>
        <location filename="../../app/hosting/exit_reasons.py"/>
        <source>llama.cpp crashed ({name}).</source>
        <translation>llama.cpp ist abgestürzt ({name}).</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/model_params.py"/>
        <source>llama.cpp does not say why</source>
        <translation>llama.cpp sagt nicht, warum</translation>
    </message>
    <message>
        <location filename="../../app/hosting/exit_reasons.py"/>
        <source>llama.cpp gave up: {words:bare}.</source>
        <translation>llama.cpp gab auf: {words:bare}.</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/model.py"/>
        <source>llama.cpp refused a batch of {n:,} tokens after {past:,} others.</source>
        <translation>llama.cpp lehnte einen Batch von {n:,} Token nach {past:,} anderen ab.</translation>
    </message>
    <message>
        <location filename="../../app/engine/decode/decoder.py"/>
        <source>llama.cpp refused a batch, so the reply goes on plainly.</source>
        <translation>llama.cpp lehnte einen Batch ab, darum geht die Antwort ohne Entwürfe weiter.</translation>
    </message>
    <message>
        <location filename="../../app/hosting/exit_reasons.py"/>
        <source>llama.cpp uses an instruction that this CPU does not know (SIGILL).</source>
        <translation>llama.cpp verwendet einen Befehl, den diese CPU nicht kennt (SIGILL).</translation>
    </message>
    <message>
        <location filename="../../app/errors.py"/>
        <source>llama.cpp's library cannot be loaded: {why:bare}.</source>
        <translation>Die Bibliothek von llama.cpp kann nicht geladen werden: {why:bare}.</translation>
    </message>
    <message>
        <location filename="../../app/chat/advice.py"/>
        <source>longer drafts</source>
        <translation>längere Entwürfe</translation>
    </message>
    <message>
        <location filename="../../app/chat/advice.py"/>
        <source>longer matches are surer</source>
        <translation>längere Treffer sind sicherer</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/patterns.py"/>
        <source>looking ahead or behind, as “(?=…)”, cannot be carried out</source>
        <translation>voraus- oder zurückzusehen, wie „(?=…)“, kann nicht ausgeführt werden</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>lost {seconds:time}</source>
        <translation>{seconds:time} verloren</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <location filename="../../app/engine/model/vocabularies.py"/>
        <source>main model</source>
        <translation>Hauptmodell</translation>
    </message>
    <message>
        <location filename="../../app/catalog/memory/plan.py"/>
        <source>memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/difference.py"/>
        <source>message {n} changed</source>
        <translation>Nachricht {n} anders ist</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/difference.py"/>
        <source>message {n} changed: {change}</source>
        <translation>Nachricht {n} anders ist: {change}</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/difference.py"/>
        <source>message {n} was put before others</source>
        <translation>Nachricht {n} vor anderen eingefügt wurde</translation>
    </message>
    <message>
        <location filename="../../app/engine/measure/calibration.py"/>
        <location filename="../../app/engine/model/states.py"/>
        <location filename="../../app/engine/turn.py"/>
        <source>model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/stream.py"/>
        <source>more came than was asked for</source>
        <translation>es kam mehr als verlangt</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/gbnf.py"/>
        <source>more than {n:,} repetitions cannot be counted</source>
        <translation>mehr als {n:,} Wiederholungen können nicht gezählt werden</translation>
    </message>
    <message>
        <location filename="../../app/codec.py"/>
        <source>must be {expected}, not {value:.60}</source>
        <translation>muss {expected} sein, nicht {value:.60}</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/strategy.py"/>
        <source>n_min is {n_min:g}, above n_max {n_max:g}.</source>
        <translation>n_min ist {n_min:g}, mehr als n_max {n_max:g}.</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/chat_json.py"/>
        <source>names no message ({name:.60})</source>
        <translation>nennt keine Nachricht ({name:.60})</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/chat_json.py"/>
        <source>names no message before it ({name:.60})</source>
        <translation>nennt keine Nachricht davor ({name:.60})</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/chat_json.py"/>
        <source>names no reply</source>
        <translation>nennt keine Antwort</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>no more to lose</source>
        <translation>nichts mehr zu verlieren</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/kernel_library.py"/>
        <source>no process can be started for it: {error}</source>
        <translation>dafür kann kein Prozess gestartet werden: {error}</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/curated.py"/>
        <source>no second model: lookups draft from the chat itself</source>
        <translation>kein zweites Modell: Nachschlagen entwirft aus dem Chat selbst</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/strategy.py"/>
        <source>no settings</source>
        <translation>keine Einstellungen</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/grammar.py"/>
        <source>no text is allowed by it</source>
        <translation>kein Text ist danach erlaubt</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>no time saved or lost so far</source>
        <translation>bisher keine Zeit gespart oder verloren</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/grammar.py"/>
        <source>no value is allowed</source>
        <translation>kein Wert ist erlaubt</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/lowering.py"/>
        <source>no value is allowed by it</source>
        <translation>kein Wert ist danach erlaubt</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/kernels.py"/>
        <source>none of them has passed its test on this processor</source>
        <translation>keiner von ihnen hat seinen Test auf diesem Prozessor bestanden</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/curated.py"/>
        <source>not checked</source>
        <translation>nicht geprüft</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/lookups/lookup_cache.py"/>
        <source>not enough memory</source>
        <translation>nicht genug Speicher</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <source>not named</source>
        <translation>nicht genannt</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/own_kernels.py"/>
        <source>not run</source>
        <translation>nicht gelaufen</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>nothing to draft</source>
        <translation>nichts zu entwerfen</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/grammar.py"/>
        <source>numbers of properties cannot be enforced here</source>
        <translation>Anzahlen von Eigenschaften können hier nicht durchgesetzt werden</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/difference.py"/>
        <source>old messages were left out, as the context was full</source>
        <translation>alte Nachrichten weggelassen wurden, da der Kontext voll war</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/curated.py"/>
        <source>on {texts}</source>
        <translation>bei {texts}</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/memory_hints.py"/>
        <source>one with fewer bits per weight</source>
        <translation>eines mit weniger Bits pro Gewicht</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/difference.py"/>
        <source>other files were left out, as the context was full</source>
        <translation>andere Dateien weggelassen wurden, da der Kontext voll war</translation>
    </message>
    <message>
        <location filename="../../app/installation/package.py"/>
        <source>package</source>
        <translation>Paket</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>place {first} and later: {share:percent} right, if all before were</source>
        <translation>ab Platz {first}: {share:percent} richtig, wenn alle davor es waren</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>place {first}: {share:percent} right, if all before were</source>
        <translation>Platz {first}: {share:percent} richtig, wenn alle davor es waren</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>places {first} to {last}: {share:percent} right, if all before were</source>
        <translation>Platz {first} bis {last}: {share:percent} richtig, wenn alle davor es waren</translation>
    </message>
    <message>
        <location filename="../../app/engine/turn.py"/>
        <source>plainly</source>
        <translation>ohne Entwürfe</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/patterns.py"/>
        <source>possessive parts, as “a++”, are not known to JSON schemas</source>
        <translation>possessive Teile, wie „a++“, kennen JSON-Schemas nicht</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/document.py"/>
        <source>property “{path}”: {what}</source>
        <translation>Eigenschaft „{path}“: {what}</translation>
    </message>
    <message>
        <location filename="../../app/resources/curated_pairs.json"/>
        <source>prose</source>
        <translation>Prosa</translation>
    </message>
    <message>
        <location filename="../../app/resources/curated_pairs.json"/>
        <source>prose, code and JSON</source>
        <translation>Prosa, Code und JSON</translation>
    </message>
    <message>
        <location filename="../../app/workers/worker.py"/>
        <source>ran longer than {seconds} seconds</source>
        <translation>lief länger als {seconds} Sekunden</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/patterns.py"/>
        <source>references back, as “\1”, cannot be carried out</source>
        <translation>Rückverweise, wie „\1“, können nicht ausgeführt werden</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/grammar.py"/>
        <source>rule “{owner}”: {reason}</source>
        <translation>Regel „{owner}“: {reason}</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/gbnf.py"/>
        <source>rules on single tokens (&lt;…&gt;) are not supported</source>
        <translation>Regeln über einzelne Token (&lt;…&gt;) werden nicht unterstützt</translation>
    </message>
    <message>
        <location filename="../../app/workers/worker.py"/>
        <source>said nonsense: {error}</source>
        <translation>schickte Unsinn: {error}</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>saved {seconds:time}</source>
        <translation>{seconds:time} gespart</translation>
    </message>
    <message>
        <location filename="../../app/chat/advice.py"/>
        <source>shorter drafts</source>
        <translation>kürzere Entwürfe</translation>
    </message>
    <message>
        <location filename="../../app/chat/advice.py"/>
        <source>shorter matches are found more often</source>
        <translation>kürzere Treffer finden sich öfter</translation>
    </message>
    <message>
        <location filename="../../app/workers/ends.py"/>
        <source>signal {number}</source>
        <translation>Signal {number}</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>speed alone measured</source>
        <translation>Tempo allein gemessen</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/chat_json.py"/>
        <location filename="../../app/chat/exchange/programs/llama_cpp.py"/>
        <source>stands for another message already</source>
        <translation>steht schon für eine andere Nachricht</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/stream.py"/>
        <source>status {status_code}</source>
        <translation>Status {status_code}</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>status {status}</source>
        <translation>Status {status}</translation>
    </message>
    <message>
        <location filename="../../app/workers/worker.py"/>
        <source>takes no question of this size</source>
        <translation>nimmt keine so große Frage an</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/chat_json.py"/>
        <source>tell of more characters than the reply has</source>
        <translation>nennen mehr Zeichen, als die Antwort hat</translation>
    </message>
    <message>
        <location filename="../../app/resources/curated_pairs.json"/>
        <source>texts of many kinds</source>
        <translation>Texte vieler Arten</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/values.py"/>
        <source>the address is not one of the Hub</source>
        <translation>die Adresse gehört nicht zum Hub</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/values.py"/>
        <source>the address is not that of a model</source>
        <translation>die Adresse ist nicht die eines Modells</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/session.py"/>
        <source>the answer came packed in another way than asked for</source>
        <translation>die Antwort kam anders gepackt als verlangt</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <location filename="../../app/catalog/hub/session.py"/>
        <source>the answer cannot be read</source>
        <translation>die Antwort kann nicht gelesen werden</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/session.py"/>
        <source>the answer is too long</source>
        <translation>die Antwort ist zu lang</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/difference.py"/>
        <source>the chat template writes an earlier part in another way: {change}</source>
        <translation>die Chat-Vorlage einen früheren Teil anders schreibt: {change}</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/patterns.py"/>
        <source>the control character {code:#04x} cannot be written</source>
        <translation>das Steuerzeichen {code:#04x} kann nicht geschrieben werden</translation>
    </message>
    <message>
        <location filename="../../app/chat/advice.py"/>
        <source>the draft model took {share:percent} of the time</source>
        <translation>das Entwurfsmodell brauchte {share:percent} der Zeit</translation>
    </message>
    <message>
        <location filename="../../app/hosting/exit_reasons.py"/>
        <source>the engine's process ended</source>
        <translation>der Prozess der Engine endete</translation>
    </message>
    <message>
        <location filename="../../app/hosting/exit_reasons.py"/>
        <source>the engine's process ended ({name})</source>
        <translation>der Prozess der Engine endete ({name})</translation>
    </message>
    <message>
        <location filename="../../app/hosting/exit_reasons.py"/>
        <source>the engine's process ended with exit code {exit_code}</source>
        <translation>der Prozess der Engine endete mit dem Code {exit_code}</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/stream.py"/>
        <source>the file came compressed</source>
        <translation>die Datei kam komprimiert</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/difference.py"/>
        <source>the files beside the gap changed</source>
        <translation>die Dateien neben der Lücke andere sind</translation>
    </message>
    <message>
        <location filename="../../app/engine/last_prompts.py"/>
        <source>the model read something else meanwhile, and nothing is kept</source>
        <translation>das Modell inzwischen anderes gelesen hat und nichts aufbewahrt wird</translation>
    </message>
    <message>
        <location filename="../../app/engine/last_prompts.py"/>
        <source>the model read something else meanwhile, and there was no room to keep this</source>
        <translation>das Modell inzwischen anderes gelesen hat und kein Platz war, dies aufzubewahren</translation>
    </message>
    <message>
        <location filename="../../app/engine/last_prompts.py"/>
        <source>the models were loaded anew</source>
        <translation>die Modelle neu geladen wurden</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/gbnf.py"/>
        <source>the name of a rule is expected (letters, digits and “-”)</source>
        <translation>der Name einer Regel wird erwartet (Buchstaben, Ziffern und „-“)</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/listing.py"/>
        <source>the next page is on another host</source>
        <translation>die nächste Seite ist auf einem anderen Rechner</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/difference.py"/>
        <source>the order of the tools changed</source>
        <translation>die Werkzeuge in anderer Reihenfolge stehen</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/difference.py"/>
        <source>the prompt changed: {change}</source>
        <translation>der Prompt anders ist: {change}</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/difference.py"/>
        <source>the reasoning of an earlier reply is left out</source>
        <translation>die Überlegungen einer früheren Antwort fehlen</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/gbnf.py"/>
        <source>the rule “{name}” never comes to an end</source>
        <translation>die Regel „{name}“ kommt nie zu einem Ende</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/difference.py"/>
        <source>the text after the gap changed</source>
        <translation>der Text nach der Lücke ein anderer ist</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/difference.py"/>
        <source>the text before the gap changed</source>
        <translation>der Text vor der Lücke ein anderer ist</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/difference.py"/>
        <source>the tool “{tool}” changed</source>
        <translation>das Werkzeug „{tool}“ ein anderes ist</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/difference.py"/>
        <source>the tool “{tool}” was added</source>
        <translation>das Werkzeug „{tool}“ dazukam</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/difference.py"/>
        <source>the tool “{tool}” was removed</source>
        <translation>das Werkzeug „{tool}“ wegfiel</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/document.py"/>
        <source>the whole</source>
        <translation>das Ganze</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/vocabularies.py"/>
        <source>the {adding} {where} a text with the {name} token, and the {other} does not</source>
        <translation>beim {adding} {where} ein Text mit dem Token {name}, beim {other} nicht</translation>
    </message>
    <message>
        <location filename="../../app/chat/advice.py"/>
        <source>the {head} took {share:percent} of the time</source>
        <translation>der {head} brauchte {share:percent} der Zeit</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/kernel_library.py"/>
        <source>their library cannot be loaded ({error})</source>
        <translation>ihre Bibliothek kann nicht geladen werden ({error})</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/kernel_library.py"/>
        <source>their library has the interface {found} instead of {interface}</source>
        <translation>ihre Bibliothek hat die Schnittstelle {found} statt {interface}</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/own_kernels.py"/>
        <source>their sources, or libggml-cpu of llama-cpp-python, cannot be found</source>
        <translation>ihre Quellen oder libggml-cpu von llama-cpp-python sind nicht zu finden</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/kernels.py"/>
        <source>their test cannot be run ({error})</source>
        <translation>ihr Test kann nicht ausgeführt werden ({error})</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/vocabularies.py"/>
        <source>their tokenizers are of different kinds: {ours}, {theirs}</source>
        <translation>ihre Tokenizer sind verschiedener Art: {ours}, {theirs}</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/vocabularies.py"/>
        <source>their vocabularies differ in size: {ours:,} and {theirs:,} tokens</source>
        <translation>ihre Vokabulare sind verschieden groß: {ours:,} und {theirs:,} Token</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/vocabularies.py"/>
        <source>their {name} tokens differ: {target} and {draft}</source>
        <translation>ihre Token {name} sind verschieden: {target} und {draft}</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/gbnf.py"/>
        <source>there is no character “{match}”</source>
        <translation>es gibt kein Zeichen „{match}“</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/gbnf.py"/>
        <source>there is no rule “root”, which it would begin with</source>
        <translation>es gibt keine Regel „root“, mit der sie beginnen würde</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/gbnf.py"/>
        <source>there is no rule “{name}”</source>
        <translation>es gibt keine Regel „{name}“</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/gbnf.py"/>
        <source>there is no such escape</source>
        <translation>diese Maskierung gibt es nicht</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/gbnf.py"/>
        <source>there is nothing before this to repeat</source>
        <translation>davor steht nichts, was wiederholt werden könnte</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/own_kernels.py"/>
        <source>they are not built for this llama.cpp</source>
        <translation>sie sind nicht für dieses llama.cpp gebaut</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/own_kernels.py"/>
        <source>they have ended the engine once ({culprit})</source>
        <translation>sie haben die Engine einmal beendet ({culprit})</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/own_kernels.py"/>
        <source>they need Linux and an x86-64 processor with AVX2</source>
        <translation>sie brauchen Linux und einen x86-64-Prozessor mit AVX2</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>this address</source>
        <translation>diese Adresse</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/kernel_library.py"/>
        <location filename="../../app/engine/llama/kernels.py"/>
        <source>this build of llama.cpp does not take them</source>
        <translation>dieser Bau von llama.cpp nimmt sie nicht an</translation>
    </message>
    <message>
        <location filename="../../app/chat/advice.py"/>
        <source>this drafter is right too rarely here, or finds nothing</source>
        <translation>dieser Entwerfer liegt hier zu selten richtig oder findet nichts</translation>
    </message>
    <message>
        <location filename="../../app/engine/last_prompts.py"/>
        <source>this model's memory cannot be cut, and goes back to a few places alone</source>
        <translation>sich das Gedächtnis dieses Modells nicht kürzen lässt und nur an wenige Stellen zurückkehrt</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/kernels.py"/>
        <source>this processor, or this build of llama.cpp, lacks instructions that they need</source>
        <translation>diesem Prozessor oder diesem Bau von llama.cpp fehlen Befehle, die sie brauchen</translation>
    </message>
    <message>
        <location filename="../../app/catalog/sidecar.py"/>
        <source>this version cannot use it yet</source>
        <translation>diese Version kann es noch nicht verwenden</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/vocabularies.py"/>
        <source>token {token} is “{name}” in the main model and “{other}” in the draft model</source>
        <translation>Token {token} ist „{name}“ im Hauptmodell und „{other}“ im Entwurfsmodell</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/chat_json.py"/>
        <source>took no time that can be</source>
        <translation>brauchte eine Zeit, die nicht sein kann</translation>
    </message>
    <message>
        <location filename="../../app/workers/worker.py"/>
        <source>took too much memory</source>
        <translation>brauchte zu viel Speicher</translation>
    </message>
    <message>
        <location filename="../../app/codec.py"/>
        <source>true or false</source>
        <translation>true oder false</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/grammar.py"/>
        <source>two patterns match the same names</source>
        <translation>zwei Muster treffen auf dieselben Namen zu</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/grammar.py"/>
        <source>two patterns may match the same names</source>
        <translation>zwei Muster treffen vielleicht auf dieselben Namen zu</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>under {share:percent}</source>
        <translation>unter {share:percent}</translation>
    </message>
    <message>
        <location filename="../../app/workers/worker.py"/>
        <source>was not ready in time</source>
        <translation>war nicht rechtzeitig bereit</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/values.py"/>
        <source>what follows @ is no revision</source>
        <translation>was auf @ folgt, ist keine Revision</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/values.py"/>
        <source>what follows the second colon is no file of a repository</source>
        <translation>was auf den zweiten Doppelpunkt folgt, ist keine Datei eines Repositorys</translation>
    </message>
    <message>
        <location filename="../../app/installation/package.py"/>
        <source>wheel</source>
        <translation>Wheel</translation>
    </message>
    <message>
        <location filename="../../app/engine/turn.py"/>
        <source>without it</source>
        <translation>ohne ihn</translation>
    </message>
    <message>
        <location filename="../../app/chat/advice.py"/>
        <source>{accepted:.1f} of at most {longest} per draft</source>
        <translation>{accepted:.1f} von höchstens {longest} je Entwurf</translation>
    </message>
    <message>
        <location filename="../../app/chat/advice.py"/>
        <source>{accepted:.1f} of {drafted:.1f} per draft</source>
        <translation>{accepted:.1f} von {drafted:.1f} je Entwurf</translation>
    </message>
    <message>
        <location filename="../../app/hosting/exit_reasons.py"/>
        <source>{again} If it happens again, choose a shorter context or a smaller model.</source>
        <translation>{again} Wenn es wieder geschieht, wählen Sie einen kürzeren Kontext oder ein kleineres Modell.</translation>
    </message>
    <message>
        <location filename="../../app/installation/remedies.py"/>
        <source>{again} Meanwhile `paceline chat` works without a window.</source>
        <translation>{again} Bis dahin geht `paceline chat` ohne Fenster.</translation>
    </message>
    <message>
        <location filename="../../app/workers/ends.py"/>
        <source>{end} ({words:bare})</source>
        <translation>{end} ({words:bare})</translation>
    </message>
    <message>
        <location filename="../../app/paths.py"/>
        <source>{folder} is not a folder</source>
        <translation>{folder} ist kein Ordner</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>{host} cannot be reached.</source>
        <translation>{host} ist nicht erreichbar.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>{host} did not answer as the Hub does: {what}.</source>
        <translation>{host} antwortete nicht, wie der Hub es tut: {what}.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>{host} did not answer in time.</source>
        <translation>{host} antwortete nicht rechtzeitig.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>{host} has a problem of its own (status {status}).</source>
        <translation>{host} hat selbst ein Problem (Status {status}).</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>{host} has no such part of the file.</source>
        <translation>{host} hat keinen solchen Teil der Datei.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>{host} has nothing at {path:.80}, where a Hub has its models.</source>
        <translation>{host} hat nichts unter {path:.80}, wo ein Hub seine Modelle hat.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>{host} takes no more requests for now.</source>
        <translation>{host} nimmt im Moment keine Anfragen mehr an.</translation>
    </message>
    <message>
        <location filename="../../app/storage/problems.py"/>
        <source>{kept} Start Paceline again to use the new file.</source>
        <translation>{kept} Starten Sie Paceline neu, um die neue Datei zu benutzen.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/strategy.py"/>
        <source>{key} is given twice.</source>
        <translation>{key} ist zweimal angegeben.</translation>
    </message>
    <message>
        <location filename="../../app/installation/package.py"/>
        <source>{kind}, built {day}</source>
        <translation>{kind}, gebaut {day}</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>{lower:.0f} to {upper:.0f} % sure: {share:percent} right</source>
        <translation>zu {lower:.0f} bis {upper:.0f} % sicher: {share:percent} richtig</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/curated.py"/>
        <source>{machine}, from {n:size} of memory</source>
        <translation>{machine}, ab {n:size} Speicher</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>{n:,} of {judged:,} guesses were right</source>
        <translation>{n:,} von {judged:,} Vermutungen waren richtig</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>{n:,} steps, {share}</source>
        <translation>{n:,} Schritte, {share}</translation>
    </message>
    <message>
        <location filename="../../app/engine/last_prompts.py"/>
        <source>{n:,} tokens were read again, since {why}.</source>
        <translation>{n:,} Token wurden erneut gelesen, weil {why}.</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/model.py"/>
        <source>{n:,} tokens with {n_rows:,} rows are too many.</source>
        <translation>{n:,} Token mit {n_rows:,} Zeilen sind zu viele.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <location filename="../../app/engine/model/translation.py"/>
        <source>{n:.0f} %</source>
        <translation>{n:.0f} %</translation>
    </message>
    <message>
        <location filename="../../app/hosting/prompt_wait.py"/>
        <source>{n_warm:,} were warm</source>
        <translation>{n_warm:,} waren schon da</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>{names} and {last}</source>
        <translation>{names} und {last}</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>{names} are being tried, to see whether drafting pays here.</source>
        <translation>Versuch mit {names}: Lohnen sich Entwürfe hier?</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>{names} did not pay: {facts}.</source>
        <translation>{names} ohne Gewinn: {facts}.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>{names} give about as much as they cost here.</source>
        <translation>{names} bringen hier etwa so viel, wie sie kosten.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>{names} gives about as much as it costs here.</source>
        <translation>{names} bringt hier etwa so viel, wie es kostet.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>{names} is being tried, to see whether drafting pays here.</source>
        <translation>Versuch mit {names}: Lohnen sich Entwürfe hier?</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>{names} pay here: {facts}.</source>
        <translation>{names} lohnen sich: {facts}.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>{names} pays here: {facts}.</source>
        <translation>{names} lohnt sich: {facts}.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>{names} was tried, to see whether drafting pays here.</source>
        <translation>Versuch mit {names}, um zu sehen, ob sich Entwürfe hier lohnen.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>{names} were tried, to see whether drafting pays here.</source>
        <translation>Versuch mit {names}, um zu sehen, ob sich Entwürfe hier lohnen.</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/kernels.py"/>
        <source>{name} ({why})</source>
        <translation>{name} ({why})</translation>
    </message>
    <message>
        <location filename="../../app/catalog/download/transfer.py"/>
        <source>{name} arrived damaged twice: its SHA-256 is not the right one.</source>
        <translation>{name} kam zweimal beschädigt an: Ihr SHA-256 ist nicht der richtige.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/placement.py"/>
        <source>{name} cannot share the rows of a weight with other devices.</source>
        <translation>{name} kann die Zeilen eines Gewichts nicht mit anderen Geräten teilen.</translation>
    </message>
    <message>
        <location filename="../../app/chat/advice.py"/>
        <source>{name} found nothing in {n} steps</source>
        <translation>„{name}“ fand in {n} Schritten nichts</translation>
    </message>
    <message>
        <location filename="../../app/chat/advice.py"/>
        <source>{name} found something in {found} of {n} steps</source>
        <translation>„{name}“ fand in {found} von {n} Schritten etwas</translation>
    </message>
    <message>
        <location filename="../../app/bench/verdict.py"/>
        <source>{name} gains nothing here. One prompt or one strategy is too few to judge the pair by.</source>
        <translation>{name} bringt hier nichts. Ein Prompt oder eine Strategie ist zu wenig, um über das Paar zu urteilen.</translation>
    </message>
    <message>
        <location filename="../../app/chat/advice.py"/>
        <source>{name} has not paid on this machine so far; Auto works without it, too.</source>
        <translation>{name} hat sich auf diesem Rechner bisher nicht gelohnt; Auto arbeitet auch ohne.</translation>
    </message>
    <message>
        <location filename="../../app/bench/verdict.py"/>
        <source>{name} is about as fast.</source>
        <translation>{name} ist etwa so schnell.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/download/part_file.py"/>
        <source>{name} is being downloaded by another window or program.</source>
        <translation>{name} wird von einem anderen Fenster oder Programm heruntergeladen.</translation>
    </message>
    <message>
        <location filename="../../app/bench/verdict.py"/>
        <source>{name} is fastest: {writing:ratio} in writing, {whole:ratio} for the whole reply.</source>
        <translation>{name} ist am schnellsten: {writing:ratio} beim Schreiben, {whole:ratio} für die ganze Antwort.</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/document.py"/>
        <source>{name} is no JSON value</source>
        <translation>{name} ist kein JSON-Wert</translation>
    </message>
    <message>
        <location filename="../../app/catalog/download/transfer.py"/>
        <source>{needed:size} are still to come, but the disk of {folder} has only {free:size} free.</source>
        <translation>{needed:size} stehen noch aus, aber der Datenträger von {folder} hat nur {free:size} frei.</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/newer.py"/>
        <source>{newer} If that does not know it either, download the file again.</source>
        <translation>{newer} Kennt auch das sie nicht, laden Sie die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <location filename="../../app/chat/presets.py"/>
        <source>{n}</source>
        <translation>{n}</translation>
    </message>
    <message>
        <location filename="../../app/chat/presets.py"/>
        <source>{n} (“{name:.40}”)</source>
        <translation>{n} („{name:.40}“)</translation>
    </message>
    <message>
        <location filename="../../app/bench/verdict.py"/>
        <source>{n} others are about as fast.</source>
        <translation>{n} andere sind etwa so schnell.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/placement.py"/>
        <source>{n} shares are more than the devices that the model is put on: {names}.</source>
        <translation>{n} Anteile sind mehr, als es Geräte für das Modell gibt: {names}.</translation>
    </message>
    <message>
        <location filename="../../app/engine/measure/thread_choice.py"/>
        <source>{n} threads</source>
        <translation>{n} Threads</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>{n} tokens: {seconds:time}</source>
        <translation>{n} Token: {seconds:time}</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>{n} tokens: {seconds:time}, {ratio:ratio} of a step without a draft</source>
        <translation>{n} Token: {seconds:time}, {ratio:ratio} eines Schritts ohne Entwurf</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/difference.py"/>
        <source>{n} tools were added, removed or changed</source>
        <translation>{n} Werkzeuge dazukamen, wegfielen oder anders sind</translation>
    </message>
    <message>
        <location filename="../../app/logs.py"/>
        <source>{path} cannot be read ({why}).</source>
        <translation>{path} kann nicht gelesen werden ({why}).</translation>
    </message>
    <message>
        <location filename="../../app/gui/bench/chart.py"/>
        <source>{path} cannot be written ({why}).</source>
        <translation>{path} kann nicht geschrieben werden ({why}).</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>{per_step:.1f} tokens per step</source>
        <translation>{per_step:.1f} Token je Schritt</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>{per_step:.1f} tokens per step, {rate:percent} of the guesses were right</source>
        <translation>{per_step:.1f} Token je Schritt, {rate:percent} der Vermutungen waren richtig</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>{per_step:.2f} tokens per step, a step takes {time:.2f} times as long</source>
        <translation>{per_step:.2f} Token je Schritt, jeder {time:.2f}× so lang</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/chat_json.py"/>
        <source>{place} is not known</source>
        <translation>{place} ist nicht bekannt</translation>
    </message>
    <message>
        <location filename="../../app/engine/pair.py"/>
        <source>{problem:bare}, so the template {name} is used in its place, which is a guess.</source>
        <translation>{problem:bare}, darum wird stattdessen die Vorlage {name} benutzt, was eine Vermutung ist.</translation>
    </message>
    <message>
        <location filename="../../app/chat/advice.py"/>
        <source>{rate:percent} of {n} drafted tokens of {name} were right</source>
        <translation>{rate:percent} von {n} entworfenen Token von {name} waren richtig</translation>
    </message>
    <message>
        <location filename="../../app/chat/advice.py"/>
        <source>{rate:percent} of {n} drafted tokens were right</source>
        <translation>{rate:percent} von {n} entworfenen Token waren richtig</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <source>{reads}.</source>
        <translation>{reads}.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <source>{reads}; above {most:.0f} % drafting hardly pays.</source>
        <translation>{reads}; über {most:.0f} % lohnt sich das Entwerfen kaum.</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/sandbox.py"/>
        <source>{reason} (line {line})</source>
        <translation>{reason} (Zeile {line})</translation>
    </message>
    <message>
        <location filename="../../app/hosting/lost_servers.py"/>
        <source>{reason} Layers of its models were on {names}.</source>
        <translation>{reason} Schichten ihrer Modelle lagen auf {names}.</translation>
    </message>
    <message>
        <location filename="../../app/hosting/process.py"/>
        <source>{reason} So the models were loaded again without the special instructions of this CPU, which is a little slower.</source>
        <translation>{reason} Darum wurden die Modelle ohne die besonderen Befehle dieser CPU neu geladen, was etwas langsamer ist.</translation>
    </message>
    <message>
        <location filename="../../app/hosting/supervisor.py"/>
        <source>{reason}, so its process was ended.</source>
        <translation>{reason}, darum wurde ihr Prozess beendet.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/download/names.py"/>
        <source>{repo:.80} is not a repository.</source>
        <translation>{repo:.80} ist kein Repository.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>{seconds:time} per drafted token</source>
        <translation>{seconds:time} je entworfenem Token</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/rpc_servers.py"/>
        <source>{server} and {other} are the same RPC server.</source>
        <translation>{server} und {other} sind derselbe RPC-Server.</translation>
    </message>
    <message>
        <location filename="../../app/parameters.py"/>
        <source>{setting} cannot be “{value:.60}”.</source>
        <translation>{setting} kann nicht „{value:.60}“ sein.</translation>
    </message>
    <message>
        <location filename="../../app/parameters.py"/>
        <source>{setting} is {value:.60}, but it must be {kind} {values}, or {word}.</source>
        <translation>{setting} ist {value:.60}, muss aber {kind} {values} oder {word} sein.</translation>
    </message>
    <message>
        <location filename="../../app/parameters.py"/>
        <source>{setting} is {value:.60}, but it must be {kind} {values}.</source>
        <translation>{setting} ist {value:.60}, muss aber {kind} {values} sein.</translation>
    </message>
    <message>
        <location filename="../../app/chat/auto_words.py"/>
        <source>{share} of steps drafted</source>
        <translation>{share} der Schritte mit Entwurf</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/backend.py"/>
        <source>{size:size}</source>
        <translation>{size:size}</translation>
    </message>
    <message>
        <location filename="../../app/catalog/memory/plan.py"/>
        <source>{size:size} ({where})</source>
        <translation>{size:size} ({where})</translation>
    </message>
    <message>
        <location filename="../../app/chat/advice.py"/>
        <source>{size:size} more would be free.</source>
        <translation>{size:size} mehr wären frei.</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/backend.py"/>
        <source>{size:size}, {free:size} are free</source>
        <translation>{size:size}, {free:size} sind frei</translation>
    </message>
    <message>
        <location filename="../../app/chat/advice.py"/>
        <source>{speed:.1f} tokens/s against {low:.1f} to {high:.1f} alone, although {rate:percent} of {n} drafted tokens were right</source>
        <translation>{speed:.1f} Token/s gegenüber {low:.1f} bis {high:.1f} allein, obwohl {rate:percent} von {n} entworfenen Token richtig waren</translation>
    </message>
    <message>
        <location filename="../../app/catalog/download/transfer.py"/>
        <source>{target} is there already, and it is another file.</source>
        <translation>{target} ist schon da, und es ist eine andere Datei.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/client.py"/>
        <source>{text:.80} has signs that cannot be sent to the Hub.</source>
        <translation>{text:.80} hat Zeichen, die nicht an den Hub gesendet werden können.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/download/names.py"/>
        <source>{text:.80} names no folder on this computer.</source>
        <translation>{text:.80} nennt keinen Ordner auf diesem Computer.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/placement.py"/>
        <source>{there_is}, so no layers can go to one.</source>
        <translation>{there_is}, also können keine Schichten auf eine gelegt werden.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/placement.py"/>
        <source>{there_is}, so there is nothing to split.</source>
        <translation>{there_is}, also gibt es nichts aufzuteilen.</translation>
    </message>
    <message>
        <location filename="../../app/hosting/exit_reasons.py"/>
        <source>{what:capital}.</source>
        <translation>{what:capital}.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>{what} has no file “{path}”.</source>
        <translation>{what} hat keine Datei „{path}“.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>{what} has no revision “{revision}”.</source>
        <translation>{what} hat keine Revision „{revision}“.</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/gbnf.py"/>
        <source>{what} is not closed</source>
        <translation>{what} ist nicht abgeschlossen</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <source>{what} is only for those who asked for it.</source>
        <translation>{what} ist nur für die da, die darum gebeten haben.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/model_params.py"/>
        <source>{what}, whose cache takes {size:size}</source>
        <translation>{what}, dessen Cache {size:size} braucht,</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/translation.py"/>
        <source>{why:capital}. Drafts cannot be translated either: of the tokens that the main model writes the draft model has only {n}.</source>
        <translation>{why:capital}. Entwürfe können auch nicht übersetzt werden: Von den Token, die das Hauptmodell schreibt, hat das Entwurfsmodell nur {n}.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/translation.py"/>
        <source>{why:capital}. So drafts are translated: of the tokens that the main model writes in English and code the draft model has {n}, and a draft ends at any other. Expect {fewer} right guesses than with the same tokenizer.</source>
        <translation>{why:capital}. Darum werden Entwürfe übersetzt: Von den Token, die das Hauptmodell in Englisch und Code schreibt, hat das Entwurfsmodell {n}, und bei jedem anderen endet ein Entwurf. Zu erwarten sind {fewer} richtige Vermutungen als mit demselben Tokenizer.</translation>
    </message>
    <message>
        <location filename="../../app/engine/turn.py"/>
        <source>{why} Auto decodes plainly.</source>
        <translation>{why} Auto dekodiert ohne Entwürfe.</translation>
    </message>
    <message>
        <location filename="../../app/engine/turn.py"/>
        <source>{why} Auto uses the lookups alone.</source>
        <translation>{why} Auto verwendet nur das Nachschlagen.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/states.py"/>
        <source>{why} It runs without speculation.</source>
        <translation>{why} Es läuft ohne Spekulation.</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/formats.py"/>
        <source>{words} If it was made to chat, choose the chat template {name}.</source>
        <translation>{words} Wenn es zum Chatten gemacht wurde, wählen Sie die Chat-Vorlage {name}.</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/lowering.py"/>
        <source>{words}: {reason}</source>
        <translation>{words}: {reason}</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/document.py"/>
        <source>“$schema” names draft 3, which is too old</source>
        <translation>„$schema“ nennt Entwurf 3, der zu alt ist</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/patterns.py"/>
        <source>“(?…)” with letters is not known to JSON schemas</source>
        <translation>„(?…)“ mit Buchstaben kennen JSON-Schemas nicht</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/gbnf.py"/>
        <source>“)” is missing</source>
        <translation>„)“ fehlt</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/gbnf.py"/>
        <source>“::=” is expected after the name “{name}”</source>
        <translation>„::=“ wird nach dem Namen „{name}“ erwartet</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/patterns.py"/>
        <source>“\b” and “\B” cannot be carried out</source>
        <translation>„\b“ und „\B“ können nicht ausgeführt werden</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/patterns.py"/>
        <source>“]” first in a class is read in different ways</source>
        <translation>„]“ als Erstes in einer Klasse wird verschieden gelesen</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/patterns.py"/>
        <source>“^” or “$” stands in the middle</source>
        <translation>„^“ oder „$“ steht in der Mitte</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/strategy.py"/>
        <source>“auto” cannot be part of a chain.</source>
        <translation>„auto“ kann nicht Teil einer Kette sein.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/strategy.py"/>
        <source>“{assignment}” could mean several settings.</source>
        <translation>„{assignment}“ könnte mehrere Einstellungen meinen.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/strategy.py"/>
        <source>“{assignment}” is no setting of {whose}.</source>
        <translation>„{assignment}“ ist keine Einstellung von {whose}.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/client.py"/>
        <source>“{endpoint}” is not the address of a Hub.</source>
        <translation>„{endpoint}“ ist nicht die Adresse eines Hubs.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/inspect/child.py"/>
        <source>“{file_name}” cannot be loaded: it says that it has {n_layers} blocks, and llama.cpp takes at most {most}.</source>
        <translation>„{file_name}“ kann nicht geladen werden: Es gibt an, {n_layers} Blöcke zu haben, und llama.cpp nimmt höchstens {most}.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/inspect/child.py"/>
        <source>“{file_name}” holds no model: its header names no architecture.</source>
        <translation>„{file_name}“ enthält kein Modell: Der Kopf der Datei nennt keine Architektur.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/sidecar.py"/>
        <source>“{file_name}” is no model of its own. {words}</source>
        <translation>„{file_name}“ ist kein eigenes Modell. {words}</translation>
    </message>
    <message>
        <location filename="../../app/catalog/sidecar.py"/>
        <source>“{file_name}” is no {head} in a file of its own.</source>
        <translation>„{file_name}“ ist kein {head} in einer eigenen Datei.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/strategy.py"/>
        <source>“{id}” cannot be part of a chain.</source>
        <translation>„{id}“ kann nicht Teil einer Kette sein.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/strategy.py"/>
        <source>“{id}” is named twice.</source>
        <translation>„{id}“ ist zweimal genannt.</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/document.py"/>
        <source>“{keyword}” {why}</source>
        <translation>„{keyword}“ {why}</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/strategy.py"/>
        <source>“{key}” has no value.</source>
        <translation>„{key}“ hat keinen Wert.</translation>
    </message>
    <message>
        <location filename="../../app/params.py"/>
        <source>“{name:.60}” is no token id: give a whole number.</source>
        <translation>„{name:.60}“ ist keine Token-ID: Geben Sie eine ganze Zahl an.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/errors.py"/>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <location filename="../../app/engine/draft/lookups/lookup_cache.py"/>
        <location filename="../../app/engine/draft/strategy.py"/>
        <source>“{name}”</source>
        <translation>„{name}“</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/backend.py"/>
        <source>“{name}” ({sizes}) does not fit into memory: {why}.</source>
        <translation>„{name}“ ({sizes}) passt nicht in den Speicher: {why}.</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/backend.py"/>
        <source>“{name}” cannot be loaded: {why}.</source>
        <translation>„{name}“ kann nicht geladen werden: {why}.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/inspect/inspector.py"/>
        <source>“{name}” cannot be looked at: no process can be started for it ({text}).</source>
        <translation>„{name}“ kann nicht untersucht werden: Dafür kann kein Prozess gestartet werden ({text}).</translation>
    </message>
    <message>
        <location filename="../../app/catalog/local/fingerprint.py"/>
        <location filename="../../app/chat/attachments.py"/>
        <location filename="../../app/gui/conversations/exchange.py"/>
        <location filename="../../app/gui/kit/file_dialogs.py"/>
        <source>“{name}” cannot be read ({why}).</source>
        <translation>„{name}“ kann nicht gelesen werden ({why}).</translation>
    </message>
    <message>
        <location filename="../../app/catalog/inspect/inspector.py"/>
        <source>“{name}” cannot be used: its header asks for more memory than there is.</source>
        <translation>„{name}“ kann nicht benutzt werden: Der Kopf der Datei verlangt mehr Speicher, als es gibt.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/inspect/child.py"/>
        <source>“{name}” cannot be used: its vocabulary is larger than any other.</source>
        <translation>„{name}“ kann nicht benutzt werden: Das Vokabular ist größer als jedes andere.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/inspect/inspector.py"/>
        <source>“{name}” cannot be used: llama.cpp crashes when it reads the file's header.</source>
        <translation>„{name}“ kann nicht benutzt werden: llama.cpp stürzt ab, wenn es den Kopf der Datei liest.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/inspect/inspector.py"/>
        <source>“{name}” cannot be used: llama.cpp gave nonsense when it read the file's header.</source>
        <translation>„{name}“ kann nicht benutzt werden: llama.cpp gab Unsinn aus, als es den Kopf der Datei las.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/inspect/inspector.py"/>
        <source>“{name}” cannot be used: reading its header does not come to an end.</source>
        <translation>„{name}“ kann nicht benutzt werden: Das Lesen des Kopfes der Datei kommt zu keinem Ende.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/models.py"/>
        <source>“{name}” cannot be used: {problem:lower}</source>
        <translation>„{name}“ kann nicht benutzt werden: {problem}</translation>
    </message>
    <message>
        <location filename="../../app/engine/opening.py"/>
        <source>“{name}” cannot draft for “{target}”. {words}</source>
        <translation>„{name}“ kann nicht für „{target}“ entwerfen. {words}</translation>
    </message>
    <message>
        <location filename="../../app/engine/measure/thread_choice.py"/>
        <source>“{name}” decodes single tokens with {threads}, which is {gain:.0%} faster here than with {n_default}.</source>
        <translation>„{name}“ dekodiert einzelne Token mit {threads}, was hier {gain:.0%} schneller ist als mit {n_default}.</translation>
    </message>
    <message>
        <location filename="../../app/gui/kit/file_dialogs.py"/>
        <source>“{name}” has more than {n:,} bytes.</source>
        <translation>„{name}“ hat mehr als {n:,} Bytes.</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/reading.py"/>
        <source>“{name}” has no messages to import.</source>
        <translation>„{name}“ hat keine Nachrichten zum Importieren.</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/reading.py"/>
        <source>“{name}” has {size:,.0f} MB; a file may have {most:.0f}.</source>
        <translation>„{name}“ hat {size:,.0f} MB; eine Datei darf {most:.0f} haben.</translation>
    </message>
    <message>
        <location filename="../../app/chat/attachments.py"/>
        <source>“{name}” has {size:.1f} MB; a file may have 1 MB.</source>
        <translation>„{name}“ hat {size:.1f} MB; eine Datei darf 1 MB haben.</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/mtp_head.py"/>
        <source>“{name}” holds no MTP head for “{target}”.</source>
        <translation>„{name}“ enthält keinen MTP-Kopf für „{target}“.</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/vocabulary.py"/>
        <source>“{name}” holds no tokenizer, so it cannot read text.</source>
        <translation>„{name}“ enthält keinen Tokenizer, kann also keinen Text lesen.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/local/model_files.py"/>
        <location filename="../../app/chat/attachments.py"/>
        <source>“{name}” is a folder.</source>
        <translation>„{name}“ ist ein Ordner.</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/reading.py"/>
        <source>“{name}” is an archive.</source>
        <translation>„{name}“ ist ein Archiv.</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/newer.py"/>
        <source>“{name}” is damaged, or its type of weights is newer than this llama.cpp: {why}.</source>
        <translation>„{name}“ ist beschädigt, oder die Art der Gewichte ist neuer als dieses llama.cpp: {why}.</translation>
    </message>
    <message>
        <location filename="../../app/chat/attachments.py"/>
        <source>“{name}” is empty.</source>
        <translation>„{name}“ ist leer.</translation>
    </message>
    <message>
        <location filename="../../app/chat/attachments.py"/>
        <source>“{name}” is in an encoding other than UTF-8 and UTF-16.</source>
        <translation>„{name}“ hat eine andere Kodierung als UTF-8 und UTF-16.</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/reading.py"/>
        <source>“{name}” is nested too deeply.</source>
        <translation>„{name}“ ist zu tief verschachtelt.</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/newer.py"/>
        <source>“{name}” is newer than this llama.cpp: {found}.</source>
        <translation>„{name}“ ist neuer als dieses llama.cpp: {found}.</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/lookups/lookup_cache.py"/>
        <source>“{name}” is no lookup cache, or it is damaged: {what}.</source>
        <translation>„{name}“ ist kein Nachschlage-Cache, oder er ist beschädigt: {what}.</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/gguf.py"/>
        <source>“{name}” is no model in GGUF format, or is damaged: {why}.</source>
        <translation>„{name}“ ist kein Modell im GGUF-Format, oder es ist beschädigt: {why}.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/fetching.py"/>
        <source>“{name}” is no model in GGUF format.</source>
        <translation>„{name}“ ist kein Modell im GGUF-Format.</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/reading.py"/>
        <source>“{name}” is no text file.</source>
        <translation>„{name}“ ist keine Textdatei.</translation>
    </message>
    <message>
        <location filename="../../app/gui/kit/file_dialogs.py"/>
        <source>“{name}” is no text in UTF-8.</source>
        <translation>„{name}“ ist kein Text in UTF-8.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/model_file.py"/>
        <source>“{name}” is not a GGUF file.</source>
        <translation>„{name}“ ist keine GGUF-Datei.</translation>
    </message>
    <message>
        <location filename="../../app/chat/attachments.py"/>
        <source>“{name}” is not a file.</source>
        <translation>„{name}“ ist keine Datei.</translation>
    </message>
    <message>
        <location filename="../../app/chat/attachments.py"/>
        <source>“{name}” is not text.</source>
        <translation>„{name}“ ist kein Text.</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/backend.py"/>
        <source>“{name}” is not the first part of its model, and not called as parts are.</source>
        <translation>„{name}“ ist nicht der erste Teil seines Modells und heißt nicht, wie Teile heißen.</translation>
    </message>
    <message>
        <location filename="../../app/chat/attachments.py"/>
        <source>“{name}” is not there any more.</source>
        <translation>„{name}“ ist nicht mehr da.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/local/model_files.py"/>
        <source>“{name}” is not there, or cannot be read.</source>
        <translation>„{name}“ ist nicht da oder nicht lesbar.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/model_file.py"/>
        <source>“{name}” is one of {n} parts of a model; “{missing}” and {n_more} more are missing.</source>
        <translation>„{name}“ ist einer von {n} Teilen eines Modells; „{missing}“ und {n_more} weitere fehlen.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/model_file.py"/>
        <source>“{name}” is one of {n} parts of a model; “{missing}” is missing.</source>
        <translation>„{name}“ ist einer von {n} Teilen eines Modells; „{missing}“ fehlt.</translation>
    </message>
    <message>
        <location filename="../../app/chat/attachments.py"/>
        <source>“{name}” is {what}, not text.</source>
        <translation>„{name}“ ist {what}, kein Text.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/inspect/inspector.py"/>
        <source>“{name}” was changed while it was looked at.</source>
        <translation>„{name}“ wurde geändert, während es untersucht wurde.</translation>
    </message>
    <message>
        <location filename="../../app/chat/exchange/reading.py"/>
        <source>“{name}”: {what}</source>
        <translation>„{name}“: {what}</translation>
    </message>
    <message>
        <location filename="../../app/engine/draft/lookups/lookup_cache.py"/>
        <source>“{origin}”, which tells the vocabulary of “{name}”, cannot be understood.</source>
        <translation>„{origin}“, das das Vokabular von „{name}“ beschreibt, kann nicht gelesen werden.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/judge/pairing.py"/>
        <source>“{ours}” and “{theirs}”</source>
        <translation>„{ours}“ und „{theirs}“</translation>
    </message>
    <message>
        <location filename="../../app/params.py"/>
        <source>“{part:.60}” is no share: give numbers such as 3, 1.</source>
        <translation>„{part:.60}“ ist kein Anteil: Geben Sie Zahlen wie 3, 1 an.</translation>
    </message>
    <message>
        <location filename="../../app/engine/schema/patterns.py"/>
        <source>“{part}” is read in different ways</source>
        <translation>„{part}“ wird verschieden gelesen</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/model_file.py"/>
        <source>“{path}” cannot be read: {reason}.</source>
        <translation>„{path}“ kann nicht gelesen werden: {reason}.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/model_file.py"/>
        <source>“{path}” is a device or a pipe.</source>
        <translation>„{path}“ ist ein Gerät oder eine Pipe.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/model_file.py"/>
        <source>“{path}” is a folder, not a model file.</source>
        <translation>„{path}“ ist ein Ordner, keine Modelldatei.</translation>
    </message>
    <message>
        <location filename="../../app/chat/presets.py"/>
        <source>“{stop}” is given twice.</source>
        <translation>„{stop}“ ist zweimal angegeben.</translation>
    </message>
    <message>
        <location filename="../../app/params.py"/>
        <source>“{text:.60}” is not of the form ID=X.</source>
        <translation>„{text:.60}“ hat nicht die Form ID=X.</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/gbnf.py"/>
        <source>“{text}” does not belong here</source>
        <translation>„{text}“ gehört nicht hierher</translation>
    </message>
    <message>
        <location filename="../../app/server/unchanged.py"/>
        <source>“{text}” finds every line, also an empty one.</source>
        <translation>„{text}“ findet jede Zeile, auch eine leere.</translation>
    </message>
    <message>
        <location filename="../../app/engine/model/rpc_servers.py"/>
        <source>“{text}” is no address of an RPC server.</source>
        <translation>„{text}“ ist keine Adresse eines RPC-Servers.</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/gbnf.py"/>
        <source>“{text}” is no character</source>
        <translation>„{text}“ ist kein Zeichen</translation>
    </message>
    <message>
        <location filename="../../app/server/unchanged.py"/>
        <source>“{text}” is no regular expression: {problem}.</source>
        <translation>„{text}“ ist kein regulärer Ausdruck: {problem}.</translation>
    </message>
    <message>
        <location filename="../../app/catalog/hub/values.py"/>
        <source>“{text}” names no model on the Hub: {why}.</source>
        <translation>„{text}“ nennt kein Modell auf dem Hub: {why}.</translation>
    </message>
    <message>
        <location filename="../../app/params.py"/>
        <source>“{value:.60}” is no number.</source>
        <translation>„{value:.60}“ ist keine Zahl.</translation>
    </message>
    <message>
        <location filename="../../app/engine/prompt/difference.py"/>
        <source>“{was}” to “{now}”</source>
        <translation>„{now}“ statt „{was}“</translation>
    </message>
    <message>
        <location filename="../../app/engine/llama/grammars/gbnf.py"/>
        <source>“}” is expected</source>
        <translation>„}“ wird erwartet</translation>
    </message>
</context>
<context>
    <name>ServerList</name>
    <message>
        <location filename="../../app/paceline/gui/machines/page.py"/>
        <source>Add</source>
        <translation>Hinzufügen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/machines/page.py"/>
        <source>Address of an RPC server</source>
        <translation>Adresse eines RPC-Servers</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/machines/page.py"/>
        <source>Ask again</source>
        <translation>Erneut fragen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/machines/page.py"/>
        <source>Ask all of them what they lend now</source>
        <translation>Alle fragen, was sie jetzt verleihen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/machines/page.py"/>
        <source>Asking…</source>
        <translation>Wird gefragt …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/machines/page.py"/>
        <source>In use by the loaded models: {}.</source>
        <translation>Von den geladenen Modellen benutzt: {}.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/machines/page.py"/>
        <source>These are as many as there can be.</source>
        <translation>Mehr Server sind nicht möglich.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/machines/page.py"/>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/machines/page.py"/>
        <source>{} is in the list.</source>
        <translation>{} steht schon in der Liste.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/machines/page.py"/>
        <source>{} was removed.</source>
        <translation>{} wurde entfernt.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/machines/page.py"/>
        <source>{} with {}</source>
        <translation>{} mit {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/machines/page.py"/>
        <source>{}, {} free</source>
        <translation>{}, davon {} frei</translation>
    </message>
</context>
<context>
    <name>ServerRow</name>
    <message>
        <location filename="../../app/paceline/gui/machines/page.py"/>
        <source>Put layers of models on this computer</source>
        <translation>Schichten von Modellen auf diesen Computer legen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/machines/page.py"/>
        <source>Remove {}</source>
        <translation>{} entfernen</translation>
    </message>
</context>
<context>
    <name>ServingLight</name>
    <message>
        <location filename="../../app/paceline/gui/serving/light.py"/>
        <source>Other programs are not served</source>
        <translation>Andere Programme werden nicht bedient</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/light.py"/>
        <source>Other programs are served no longer</source>
        <translation>Andere Programme werden nicht mehr bedient</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/light.py"/>
        <source>Other programs can ask</source>
        <translation>Andere Programme können fragen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/light.py"/>
        <source>Requests so far: {}</source>
        <translation>Anfragen bisher: {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/light.py"/>
        <source>Waiting: {}</source>
        <translation>Es warten: {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/light.py"/>
        <source>{} is being answered</source>
        <translation>{} bekommt eine Antwort</translation>
    </message>
</context>
<context>
    <name>SettingsBadge</name>
    <message>
        <location filename="../../app/paceline/gui/sampling/controller.py"/>
        <source>Let this chat have what new chats begin with: “{}”</source>
        <translation>Diesem Chat geben, womit neue Chats beginnen: „{}“</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/controller.py"/>
        <source>Reset</source>
        <translation>Zurücksetzen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/controller.py"/>
        <source>Reset the settings of this chat</source>
        <translation>Die Einstellungen dieses Chats zurücksetzen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/controller.py"/>
        <source>Set for this chat, otherwise than in “{}”:
{}
A click shows it.</source>
        <translation>Für diesen Chat anders gesetzt als in „{}“:
{}
Ein Klick zeigt es.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/controller.py"/>
        <source>Settings of this chat: {}</source>
        <translation>Einstellungen dieses Chats: {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/controller.py"/>
        <source>{} more</source>
        <translation>{} weitere</translation>
    </message>
</context>
<context>
    <name>SettingsController</name>
    <message>
        <location filename="../../app/paceline/gui/settings/controller.py"/>
        <source>Chats</source>
        <translation>Chats</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/controller.py"/>
        <source>Log</source>
        <translation>Protokoll</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/controller.py"/>
        <source>Measurements</source>
        <translation>Messungen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/controller.py"/>
        <source>Prompt cache</source>
        <translation>Prompt-Cache</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/controller.py"/>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
</context>
<context>
    <name>SettingsDialog</name>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>No setting contains these words.</source>
        <translation>Keine Einstellung enthält diese Wörter.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Pages</source>
        <translation>Seiten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Reset this page</source>
        <translation>Diese Seite zurücksetzen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Search settings</source>
        <translation>Suchen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>“{}” is back to its defaults.</source>
        <translation>„{}“ hat wieder seine Vorgaben.</translation>
    </message>
</context>
<context>
    <name>SetupPage</name>
    <message>
        <location filename="../../app/paceline/gui/bench/setup_page.py"/>
        <source>At least two, since one says nothing about chance; more take longer and tell smaller differences.</source>
        <translation>Mindestens zwei, denn eine sagt nichts über den Zufall; mehr dauern länger und zeigen kleinere Unterschiede.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/setup_page.py"/>
        <source>More strategies</source>
        <translation>Weitere Strategien</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/setup_page.py"/>
        <source>Repeats</source>
        <translation>Wiederholungen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/setup_page.py"/>
        <source>Strategies</source>
        <translation>Strategien</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/setup_page.py"/>
        <source>The same replies are generated with each strategy, in turn and several times, and their times are compared. Your chats stay as they are.</source>
        <translation>Dieselben Antworten werden mit jeder Strategie erzeugt, abwechselnd und mehrmals, und ihre Zeiten verglichen. Ihre Chats bleiben, wie sie sind.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/bench/setup_page.py"/>
        <source>Which strategy is fastest here?</source>
        <translation>Welche Strategie ist hier am schnellsten?</translation>
    </message>
</context>
<context>
    <name>Shortcuts</name>
    <message>
        <location filename="../../app/paceline/gui/help/shortcuts.py"/>
        <source> or </source>
        <translation> oder </translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/shortcuts.py"/>
        <source>Begin a new line</source>
        <translation>Neue Zeile beginnen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/shortcuts.py"/>
        <source>Elsewhere</source>
        <translation>Anderswo</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/shortcuts.py"/>
        <source>Message field</source>
        <translation>Nachrichtenfeld</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/shortcuts.py"/>
        <source>Send, as chosen in the settings</source>
        <translation>Senden, wie in den Einstellungen gewählt</translation>
    </message>
</context>
<context>
    <name>ShortcutsDialog</name>
    <message>
        <location filename="../../app/paceline/gui/help/shortcuts.py"/>
        <source>Keyboard shortcuts</source>
        <translation>Tastenkürzel</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/shortcuts.py"/>
        <source>No shortcut contains these words.</source>
        <translation>Kein Tastenkürzel enthält diese Wörter.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/shortcuts.py"/>
        <source>Search by name or key</source>
        <translation>Nach Name oder Taste suchen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/shortcuts.py"/>
        <source>Shortcuts</source>
        <translation>Tastenkürzel</translation>
    </message>
</context>
<context>
    <name>SiblingSwitch</name>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_actions.py"/>
        <source>Compare the versions</source>
        <translation>Die Versionen vergleichen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_actions.py"/>
        <source>Next version</source>
        <translation>Nächste Fassung</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_actions.py"/>
        <source>Previous version</source>
        <translation>Vorige Fassung</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_actions.py"/>
        <source>Version {} of {}</source>
        <translation>Fassung {} von {}</translation>
    </message>
</context>
<context>
    <name>SideBar</name>
    <message>
        <location filename="../../app/paceline/gui/chat/markdown/sideways.py"/>
        <source>Scroll sideways</source>
        <translation>Seitwärts scrollen</translation>
    </message>
</context>
<context>
    <name>Sidebar</name>
    <message>
        <location filename="../../app/paceline/gui/conversations/sidebar.py"/>
        <source>Deleted “{}”</source>
        <translation>„{}“ gelöscht</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/sidebar.py"/>
        <source>Import…</source>
        <translation>Importieren …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/sidebar.py"/>
        <source>More ways to begin</source>
        <translation>Weitere Anfänge</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/sidebar.py"/>
        <source>New chat</source>
        <translation>Neuer Chat</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/sidebar.py"/>
        <source>New folder…</source>
        <translation>Neuer Ordner …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/sidebar.py"/>
        <source>New private chat</source>
        <translation>Neuer privater Chat</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/sidebar.py"/>
        <source>Nothing of it is stored or remembered.</source>
        <translation>Nichts davon wird gespeichert oder gemerkt.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/sidebar.py"/>
        <source>Private chat, folder, import</source>
        <translation>Privater Chat, Ordner, Import</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/sidebar.py"/>
        <source>writing…</source>
        <translation>schreibt …</translation>
    </message>
</context>
<context>
    <name>SizeField</name>
    <message>
        <location filename="../../app/paceline/gui/settings/forms.py"/>
        <source>{} px</source>
        <translation>{} px</translation>
    </message>
</context>
<context>
    <name>SliderField</name>
    <message>
        <location filename="../../app/paceline/gui/kit/fields.py"/>
        <source>Back to {}</source>
        <translation>Zurück auf {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/kit/fields.py"/>
        <source>Put {} back</source>
        <translation>{} zurücksetzen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/kit/fields.py"/>
        <source>{}
Default: {}</source>
        <translation>{}
Vorgabe: {}</translation>
    </message>
</context>
<context>
    <name>Sources</name>
    <message>
        <location filename="../../app/paceline/gui/state/sources.py"/>
        <source>Lookup</source>
        <translation>Nachschlagen</translation>
    </message>
</context>
<context>
    <name>SpeculationModel</name>
    <message>
        <location filename="../../app/paceline/gui/state/speculation.py"/>
        <source>No draft model is loaded.</source>
        <translation>Es ist kein Entwurfsmodell geladen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/state/speculation.py"/>
        <source>No {} is loaded.</source>
        <translation>Nicht geladen: {}.</translation>
    </message>
</context>
<context>
    <name>SpeculationPanel</name>
    <message>
        <location filename="../../app/paceline/gui/panel.py"/>
        <source>Chat</source>
        <translation>Chat</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/panel.py"/>
        <source>How fast replies are written, and why</source>
        <translation>Wie schnell Antworten geschrieben werden, und warum</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/panel.py"/>
        <source>Speed</source>
        <translation>Tempo</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/panel.py"/>
        <source>Tune and details</source>
        <translation>Einstellen und Einzelheiten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/panel.py"/>
        <source>What this chat's replies are told and allowed</source>
        <translation>Was für die Antworten dieses Chats gilt</translation>
    </message>
</context>
<context>
    <name>SpeedPlot</name>
    <message>
        <location filename="../../app/paceline/gui/plot/speed_plot.py"/>
        <source>- - alone</source>
        <translation>- - allein</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/plot/speed_plot.py"/>
        <source>A bar is a step: the tokens that were guessed, and those that were right</source>
        <translation>Ein Balken ist ein Schritt: die vermuteten Token und die richtigen darunter</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/plot/speed_plot.py"/>
        <source>Guesses that were right</source>
        <translation>Richtige Vermutungen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/plot/speed_plot.py"/>
        <source>Guesses that were right, per step</source>
        <translation>Richtige Vermutungen je Schritt</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/plot/speed_plot.py"/>
        <source>The colours are those of the chat: words that a draft model guessed are underlined, those of a lookup dotted; plain words the model wrote alone.</source>
        <translation>Die Farben sind die des Chats: Was ein Entwurfsmodell erraten hat, ist unterstrichen, was vom Nachschlagen kommt, gepunktet; alles andere hat das Modell allein geschrieben.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/plot/speed_plot.py"/>
        <source>Tokens per second</source>
        <translation>Token pro Sekunde</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/plot/speed_plot.py"/>
        <source>Tokens per second, at most {}</source>
        <translation>Token pro Sekunde, höchstens {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/plot/speed_plot.py"/>
        <source>alone: –</source>
        <translation>allein: –</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/plot/speed_plot.py"/>
        <source>for {}</source>
        <translation>für {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/plot/speed_plot.py"/>
        <source>held at step {}</source>
        <translation>bei Schritt {} festgehalten</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/plot/speed_plot.py"/>
        <source>no drafts in these steps</source>
        <translation>in diesen Schritten keine Entwürfe</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/plot/speed_plot.py"/>
        <source>one bar for each step of a reply</source>
        <translation>ein Balken je Schritt einer Antwort</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/plot/speed_plot.py"/>
        <source>{} of {} guesses were right in {} steps</source>
        <translation>{} von {} Vermutungen waren richtig, in {} Schritten</translation>
    </message>
</context>
<context>
    <name>Starters</name>
    <message>
        <location filename="../../app/paceline/gui/welcome/starters.py"/>
        <source>Add type hints to code</source>
        <translation>Typen in Code ergänzen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/welcome/starters.py"/>
        <source>Add type hints to this code, and write all of it again:</source>
        <translation>Ergänze Typangaben in diesem Code und schreibe ihn ganz noch einmal:</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/welcome/starters.py"/>
        <source>Begin every sentence of this paragraph with a capital letter:

thank you for your letter of the third of May. the two chairs that you ordered were sent on Monday, and they should arrive within five days. the table is not in stock at the moment. it will be sent in the last week of June, together with the two lamps and the mirror from your second order. if you do not want to wait for the table, please write to us before the end of the month, and we will send the money back to your account. we are sorry for the delay, and we hope that you will enjoy the chairs.</source>
        <translation>Beginne jeden Satz dieses Absatzes mit einem großen Buchstaben:

vielen Dank für Ihren Brief vom dritten Mai. die beiden Stühle, die Sie bestellt haben, wurden am Montag verschickt und sollten innerhalb von fünf Tagen ankommen. der Tisch ist im Augenblick nicht auf Lager. er wird in der letzten Woche im Juni verschickt, zusammen mit den beiden Lampen und dem Spiegel aus Ihrer zweiten Bestellung. wenn Sie nicht auf den Tisch warten möchten, schreiben Sie uns bitte vor dem Ende des Monats, und wir überweisen Ihnen das Geld zurück. die Verzögerung tut uns leid, und wir hoffen, dass Ihnen die Stühle gefallen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/welcome/starters.py"/>
        <source>Correct a paragraph</source>
        <translation>Einen Absatz berichtigen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/welcome/starters.py"/>
        <source>Quote from a page</source>
        <translation>Aus einer Seite zitieren</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/welcome/starters.py"/>
        <source>Quote what this page says about the opening hours:

The library is open from nine in the morning until seven in the evening from Monday to Friday, and from ten in the morning until four in the afternoon on Saturday. It is closed on Sunday and on the first Monday of each month. In July and August it closes two hours earlier, and the reading room is open only in the morning.
A card for the library costs twelve euros a year. For students the card is free.
Every reader may borrow ten books for four weeks. For each day that a book is late, the reader pays twenty cents.</source>
        <translation>Zitiere, was diese Seite über die Öffnungszeiten sagt:

Die Bibliothek ist von Montag bis Freitag von neun Uhr morgens bis sieben Uhr abends geöffnet und am Samstag von zehn Uhr morgens bis vier Uhr nachmittags. Am Sonntag und am ersten Montag jedes Monats ist sie geschlossen. Im Juli und im August schließt sie zwei Stunden früher, und der Lesesaal ist nur am Vormittag geöffnet.
Ein Ausweis der Bibliothek kostet zwölf Euro im Jahr. Für Studierende ist er frei.
Jeder Leser darf zehn Bücher für vier Wochen ausleihen. Für jeden Tag, den ein Buch zu spät kommt, zahlt der Leser zwanzig Cent.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/welcome/starters.py"/>
        <source>Remove comments from code</source>
        <translation>Kommentare aus Code entfernen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/welcome/starters.py"/>
        <source>Remove the comments from this code:</source>
        <translation>Entferne die Kommentare aus diesem Code:</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/welcome/starters.py"/>
        <source>Rename a function</source>
        <translation>Eine Funktion umbenennen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/welcome/starters.py"/>
        <source>Rename the function add to plus, and write all of the code again:</source>
        <translation>Benenne die Funktion add in plus um und schreibe den ganzen Code noch einmal:</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/welcome/starters.py"/>
        <source>Turn ten lines into JSON</source>
        <translation>Aus zehn Zeilen JSON machen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/welcome/starters.py"/>
        <source>Turn these ten lines into one JSON object:</source>
        <translation>Mache aus diesen zehn Zeilen ein JSON-Objekt:</translation>
    </message>
</context>
<context>
    <name>StateRow</name>
    <message>
        <location filename="../../app/paceline/gui/serving/page.py"/>
        <source>Copy the address</source>
        <translation>Die Adresse kopieren</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/page.py"/>
        <source>It ends after the reply under way.</source>
        <translation>Er endet nach der laufenden Antwort.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/page.py"/>
        <source>ending</source>
        <translation>endet</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/page.py"/>
        <source>off</source>
        <translation>aus</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/page.py"/>
        <source>on</source>
        <translation>an</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/serving/page.py"/>
        <source>starting</source>
        <translation>startet</translation>
    </message>
</context>
<context>
    <name>StepBar</name>
    <message>
        <location filename="../../app/paceline/gui/models/picker/dialog.py"/>
        <source>A small model that guesses ahead: the text is the same, only faster.</source>
        <translation>Ein kleines Modell, das vorausrät: Der Text ist derselbe, nur schneller.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/dialog.py"/>
        <source>Add a draft model (optional)</source>
        <translation>Entwurfsmodell hinzufügen (optional)</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/dialog.py"/>
        <source>Draft model (optional)</source>
        <translation>Entwurfsmodell (optional)</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/dialog.py"/>
        <source>MTP head inside</source>
        <translation>MTP-Kopf in der Datei</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/dialog.py"/>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/dialog.py"/>
        <source>choose</source>
        <translation>wählen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/dialog.py"/>
        <source>none</source>
        <translation>keines</translation>
    </message>
</context>
<context>
    <name>StopField</name>
    <message>
        <location filename="../../app/paceline/gui/sampling/reply_form.py"/>
        <source>Remove the stop string {}</source>
        <translation>Stopptext {} entfernen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/reply_form.py"/>
        <source>Text, then Enter</source>
        <translation>Text, dann Eingabe</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/reply_form.py"/>
        <source>The reply ends before the first of these texts in its answer. Write \n for a line end, \t for a tab and \\ for a backslash. Often used: \n\n for one paragraph, ``` for one piece of code. At most {} texts.</source>
        <translation>Die Antwort endet vor dem ersten dieser Texte, der außerhalb des Nachdenkens steht. Schreiben Sie \n für ein Zeilenende, \t für einen Tabulator und \\ für einen Backslash. Oft verwendet: \n\n für einen Absatz, ``` für ein Stück Code. Höchstens {} Texte.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/reply_form.py"/>
        <source>“{}”: a click removes it</source>
        <translation>„{}“: Ein Klick entfernt ihn</translation>
    </message>
</context>
<context>
    <name>StorageController</name>
    <message>
        <location filename="../../app/paceline/gui/storage_controller.py"/>
        <source>Try again</source>
        <translation>Noch einmal</translation>
    </message>
</context>
<context>
    <name>StrategyCommands</name>
    <message>
        <location filename="../../app/paceline/gui/help/palette.py"/>
        <source>Strategy</source>
        <translation>Strategie</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/palette.py"/>
        <source>Use {}</source>
        <translation>{} verwenden</translation>
    </message>
</context>
<context>
    <name>StrategyFit</name>
    <message>
        <location filename="../../app/paceline/gui/models/controller.py"/>
        <source>Drafts come from “{}” again.</source>
        <translation>Entwürfe kommen wieder von „{}“.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/controller.py"/>
        <source>Drafts come from “{}” with these models.</source>
        <translation>Entwürfe kommen mit diesen Modellen von „{}“.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/controller.py"/>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
</context>
<context>
    <name>StrategyMenu</name>
    <message>
        <location filename="../../app/paceline/gui/speculation/strategy_picker.py"/>
        <source>Find a strategy</source>
        <translation>Strategie finden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/strategy_picker.py"/>
        <source>Put one together…</source>
        <translation>Selbst zusammenstellen …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/strategy_picker.py"/>
        <source>Strategies</source>
        <translation>Strategien</translation>
    </message>
</context>
<context>
    <name>StrategyPicker</name>
    <message>
        <location filename="../../app/paceline/gui/speculation/strategy_picker.py"/>
        <source>A second, smaller model writes ahead: pays with large models, for any text.</source>
        <translation>Ein zweites, kleineres Modell schreibt voraus: lohnt sich mit großen Modellen, bei jedem Text.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/strategy_picker.py"/>
        <source>All lookups by their kinds, and several in a row.</source>
        <translation>Alle Arten des Nachschlagens, und mehrere hintereinander.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/strategy_picker.py"/>
        <source>Auto</source>
        <translation>Auto</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/strategy_picker.py"/>
        <source>Copies what was written before; no second model. Pays for edits, code, JSON and quotes.</source>
        <translation>Kopiert, was schon geschrieben steht; ohne zweites Modell. Lohnt sich beim Überarbeiten, bei Code, JSON und Zitaten.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/strategy_picker.py"/>
        <source>Draft model</source>
        <translation>Entwurfsmodell</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/strategy_picker.py"/>
        <source>Drafts</source>
        <translation>Entwürfe</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/strategy_picker.py"/>
        <source>Lookups</source>
        <translation>Nachschlagen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/strategy_picker.py"/>
        <source>Measures at every step what pays, drafts where it does, and writes plainly where it does not.</source>
        <translation>Misst bei jedem Schritt, was sich lohnt, entwirft, wo es sich lohnt, und schreibt sonst ohne Entwürfe.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/strategy_picker.py"/>
        <source>More…</source>
        <translation>Mehr …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/strategy_picker.py"/>
        <source>No drafts: one token in each step.</source>
        <translation>Keine Entwürfe: ein Token in jedem Schritt.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/strategy_picker.py"/>
        <source>Off</source>
        <translation>Aus</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/strategy_picker.py"/>
        <source>Strategy</source>
        <translation>Strategie</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/strategy_picker.py"/>
        <source>{} Choose this to get one.</source>
        <translation>{} Wählen Sie dies, um zu laden, was fehlt.</translation>
    </message>
</context>
<context>
    <name>TagBar</name>
    <message>
        <location filename="../../app/paceline/gui/conversations/tags.py"/>
        <source>More tags</source>
        <translation>Weitere Schlagwörter</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/tags.py"/>
        <source>Only chats with the tag {}</source>
        <translation>Nur Chats mit dem Schlagwort {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/tags.py"/>
        <source>Tags</source>
        <translation>Schlagwörter</translation>
    </message>
</context>
<context>
    <name>TagEditor</name>
    <message>
        <location filename="../../app/paceline/gui/conversations/tags.py"/>
        <source>Add or find a tag</source>
        <translation>Schlagwort hinzufügen oder finden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/tags.py"/>
        <source>Done</source>
        <translation>Fertig</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/tags.py"/>
        <source>Enter adds the new tag “{}”.</source>
        <translation>Eingabe fügt das neue Schlagwort „{}“ hinzu.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/tags.py"/>
        <source>Enter ticks it.</source>
        <translation>Eingabe kreuzt es an.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/tags.py"/>
        <source>No tags yet. Type one and press Enter.</source>
        <translation>Noch keine Schlagwörter. Tippen Sie eines ein und drücken Sie Eingabe.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/tags.py"/>
        <source>Tags</source>
        <translation>Schlagwörter</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/conversations/tags.py"/>
        <source>Tick what this chat belongs to.</source>
        <translation>Kreuzen Sie an, wozu dieser Chat gehört.</translation>
    </message>
</context>
<context>
    <name>TemplateEditor</name>
    <message>
        <location filename="../../app/paceline/gui/sampling/prompting.py"/>
        <source>A reply ends before {}.</source>
        <translation>Eine Antwort endet vor {}.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/prompting.py"/>
        <source>Chat template</source>
        <translation>Chat-Vorlage</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/prompting.py"/>
        <source>Chat template of {}</source>
        <translation>Chat-Vorlage von {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/prompting.py"/>
        <source>Go on with the text</source>
        <translation>Den Text fortsetzen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/prompting.py"/>
        <source>How a chat is written for the model. Yours is kept for this model.</source>
        <translation>Wie ein Chat für das Modell aufgeschrieben wird. Ihre Vorlage wird für dieses Modell behalten.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/prompting.py"/>
        <source>Plain text with User: and Assistant:</source>
        <translation>Einfacher Text mit User: und Assistant:</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/prompting.py"/>
        <source>Prompt of this chat</source>
        <translation>Prompt dieses Chats</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/prompting.py"/>
        <source>Reset to the file's own</source>
        <translation>Zurück zu der in der Datei</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/prompting.py"/>
        <source>Reset to the guess</source>
        <translation>Zurück zur geratenen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/prompting.py"/>
        <source>Start from another template</source>
        <translation>Mit einer anderen Vorlage beginnen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/prompting.py"/>
        <source>Start from…</source>
        <translation>Beginnen mit …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/prompting.py"/>
        <source>Template (Jinja)</source>
        <translation>Vorlage (Jinja)</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/prompting.py"/>
        <source>The file has no template that works, so this one is a guess. Yours is kept for this model.</source>
        <translation>Die Datei hat keine Vorlage, die funktioniert, also ist diese geraten. Ihre wird für dieses Modell behalten.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/prompting.py"/>
        <source>The prompt follows as soon as the engine has time.</source>
        <translation>Der Prompt folgt, sobald die Engine Zeit hat.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/prompting.py"/>
        <source>Use this template</source>
        <translation>Diese Vorlage verwenden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/sampling/prompting.py"/>
        <source>{:,} characters.</source>
        <translation>{:,} Zeichen.</translation>
    </message>
</context>
<context>
    <name>ThemePictures</name>
    <message>
        <location filename="../../app/paceline/gui/settings/forms.py"/>
        <source>Dark</source>
        <translation>Dunkel</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/forms.py"/>
        <source>Light</source>
        <translation>Hell</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/forms.py"/>
        <source>Like the desktop</source>
        <translation>Wie der Desktop</translation>
    </message>
</context>
<context>
    <name>TimeBar</name>
    <message>
        <location filename="../../app/paceline/gui/plot/bars.py"/>
        <source>Where the time goes</source>
        <translation>Wohin die Zeit geht</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/plot/bars.py"/>
        <source>draft</source>
        <translation>Entwerfer</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/plot/bars.py"/>
        <source>prefill</source>
        <translation>Prefill</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/plot/bars.py"/>
        <source>rest</source>
        <translation>Rest</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/plot/bars.py"/>
        <source>sampling</source>
        <translation>Ziehen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/plot/bars.py"/>
        <source>verify</source>
        <translation>Prüfen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/plot/bars.py"/>
        <source>{} ({} s)</source>
        <translation>{} ({} s)</translation>
    </message>
</context>
<context>
    <name>TokenField</name>
    <message>
        <location filename="../../app/paceline/gui/settings/downloads_page.py"/>
        <source>Access token of Hugging Face</source>
        <translation>Zugangstoken von Hugging Face</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/downloads_page.py"/>
        <source>Access token, hf_…</source>
        <translation>Zugangstoken, hf_…</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/downloads_page.py"/>
        <source>Forget</source>
        <translation>Vergessen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/downloads_page.py"/>
        <source>Forget the access token</source>
        <translation>Das Zugangstoken vergessen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/downloads_page.py"/>
        <source>Not set</source>
        <translation>Nicht gesetzt</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/downloads_page.py"/>
        <source>Set</source>
        <translation>Gesetzt</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/downloads_page.py"/>
        <source>Set by the variable HF_TOKEN</source>
        <translation>Durch die Variable HF_TOKEN gesetzt</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/settings/downloads_page.py"/>
        <source>Use token</source>
        <translation>Token verwenden</translation>
    </message>
</context>
<context>
    <name>TokenText</name>
    <message>
        <location filename="../../app/paceline/gui/chat/markdown/view.py"/>
        <source>after a wrong guess</source>
        <translation>nach einer falschen Vermutung</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/markdown/view.py"/>
        <source>bonus</source>
        <translation>Bonus</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/markdown/view.py"/>
        <source>confidence {value:.2f}</source>
        <translation>Sicherheit {value:.2f}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/markdown/view.py"/>
        <source>right guess</source>
        <translation>richtige Vermutung</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/markdown/view.py"/>
        <source>step {number}</source>
        <translation>Schritt {number}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/markdown/view.py"/>
        <source>the model's own</source>
        <translation>vom Modell selbst</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/markdown/view.py"/>
        <source>{place} of {total}</source>
        <translation>{place} von {total}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/markdown/view.py"/>
        <source>{}nd</source>
        <translation>{}.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/markdown/view.py"/>
        <source>{}rd</source>
        <translation>{}.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/markdown/view.py"/>
        <source>{}st</source>
        <translation>{}.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/markdown/view.py"/>
        <source>{}th</source>
        <translation>{}.</translation>
    </message>
</context>
<context>
    <name>TopBar</name>
    <message>
        <location filename="../../app/paceline/gui/window.py"/>
        <source>More menus</source>
        <translation>Weitere Menüs</translation>
    </message>
</context>
<context>
    <name>UndoBar</name>
    <message>
        <location filename="../../app/paceline/gui/conversations/sidebar.py"/>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
</context>
<context>
    <name>UnseenLine</name>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_list.py"/>
        <source>The context is full. With a longer one the model would see more of the chat.</source>
        <translation>Der Kontext ist voll. Mit einem längeren sähe das Modell mehr vom Chat.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/message_list.py"/>
        <source>The model no longer sees what is above</source>
        <translation>Was darüber steht, sieht das Modell nicht mehr</translation>
    </message>
</context>
<context>
    <name>UserBubble</name>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/user_bubble.py"/>
        <source>Show all</source>
        <translation>Alles zeigen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/user_bubble.py"/>
        <source>Show all {} lines</source>
        <translation>Alle {} Zeilen zeigen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/user_bubble.py"/>
        <source>Show less</source>
        <translation>Weniger zeigen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/chat/messages/user_bubble.py"/>
        <source>You said</source>
        <translation>Sie sagten</translation>
    </message>
</context>
<context>
    <name>VerdictCard</name>
    <message>
        <location filename="../../app/paceline/gui/models/picker/verdict_card.py"/>
        <source>About {} tokens/s alone ({}).</source>
        <translation>Etwa {} Token/s allein ({}).</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/verdict_card.py"/>
        <source>About {} tokens/s alone, {} with drafts ({}).</source>
        <translation>Etwa {} Token/s allein, {} mit Entwürfen ({}).</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/verdict_card.py"/>
        <source>Can be tried</source>
        <translation>Einen Versuch wert</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/verdict_card.py"/>
        <source>Cannot tell</source>
        <translation>Lässt sich nicht sagen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/verdict_card.py"/>
        <source>Choose one in the list.</source>
        <translation>Wählen Sie eines aus der Liste.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/verdict_card.py"/>
        <source>Does not go together</source>
        <translation>Passt nicht zusammen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/verdict_card.py"/>
        <source>Good</source>
        <translation>Gut</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/verdict_card.py"/>
        <source>Guesses are copied from the text itself; no second model is needed.</source>
        <translation>Vermutungen werden aus dem Text selbst abgeschrieben; ein zweites Modell ist nicht nötig.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/verdict_card.py"/>
        <source>Little gain</source>
        <translation>Wenig Gewinn</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/verdict_card.py"/>
        <source>Look again</source>
        <translation>Noch einmal ansehen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/verdict_card.py"/>
        <source>Looking…</source>
        <translation>Wird angesehen …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/verdict_card.py"/>
        <source>No draft model</source>
        <translation>Kein Entwurfsmodell</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/verdict_card.py"/>
        <source>No model yet</source>
        <translation>Noch kein Modell</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/verdict_card.py"/>
        <source>Not known</source>
        <translation>Nicht bekannt</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/verdict_card.py"/>
        <source>On this machine drafts save little time.</source>
        <translation>Auf diesem Rechner sparen Entwürfe wenig Zeit.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/verdict_card.py"/>
        <source>On this machine drafts save time.</source>
        <translation>Auf diesem Rechner sparen Entwürfe Zeit.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/verdict_card.py"/>
        <source>Problem</source>
        <translation>Problem</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/verdict_card.py"/>
        <source>Reading the header.</source>
        <translation>Der Kopf der Datei wird gelesen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/verdict_card.py"/>
        <source>Reading the headers of both models.</source>
        <translation>Die Köpfe beider Dateien werden gelesen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/verdict_card.py"/>
        <source>Slower</source>
        <translation>Langsamer</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/verdict_card.py"/>
        <source>Swap the two models</source>
        <translation>Die beiden Modelle tauschen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/verdict_card.py"/>
        <source>Take no draft model</source>
        <translation>Kein Entwurfsmodell nehmen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/verdict_card.py"/>
        <source>Take {} instead</source>
        <translation>Stattdessen {} nehmen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/verdict_card.py"/>
        <source>What is on Hugging Face can be looked into when you are online.</source>
        <translation>Was auf Hugging Face liegt, kann angesehen werden, wenn Sie online sind.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/verdict_card.py"/>
        <source>Why</source>
        <translation>Warum</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/verdict_card.py"/>
        <source>Worth knowing</source>
        <translation>Gut zu wissen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/verdict_card.py"/>
        <source>estimate</source>
        <translation>geschätzt</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/verdict_card.py"/>
        <source>measured</source>
        <translation>gemessen</translation>
    </message>
</context>
<context>
    <name>Versions</name>
    <message>
        <location filename="../../app/paceline/gui/help/about.py"/>
        <source>Build flags</source>
        <translation>Bauoptionen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/about.py"/>
        <source>Code for this processor</source>
        <translation>Code für diesen Prozessor</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/about.py"/>
        <source>Devices</source>
        <translation>Geräte</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/about.py"/>
        <source>Installation</source>
        <translation>Installation</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/about.py"/>
        <source>Main memory</source>
        <translation>Hauptspeicher</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/about.py"/>
        <source>Processor cores</source>
        <translation>Prozessorkerne</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/about.py"/>
        <source>System</source>
        <translation>System</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/about.py"/>
        <source>The engine has not answered yet.</source>
        <translation>Die Engine hat noch nicht geantwortet.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/about.py"/>
        <source>There may be a newer version: look where you got this one. Paceline does not look for updates itself.</source>
        <translation>Vielleicht gibt es eine neuere Version: Sehen Sie dort nach, woher Sie diese haben. Paceline sucht selbst nicht nach Aktualisierungen.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/about.py"/>
        <source>Version {}</source>
        <translation>Version {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/about.py"/>
        <source>Version {}, built on {}</source>
        <translation>Version {}, gebaut am {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/about.py"/>
        <source>Version {}, built on {} ({})</source>
        <translation>Version {}, gebaut am {} ({})</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/about.py"/>
        <source>d MMMM yyyy</source>
        <translation>d. MMMM yyyy</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/about.py"/>
        <source>not known</source>
        <translation>nicht bekannt</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/about.py"/>
        <source>today</source>
        <translation>heute</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/about.py"/>
        <source>yesterday</source>
        <translation>gestern</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/about.py"/>
        <source>{} ({}), {} of {} free</source>
        <translation>{} ({}), {} von {} frei</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/about.py"/>
        <source>{} days ago</source>
        <translation>vor {} Tagen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/about.py"/>
        <source>{} physical, {} logical</source>
        <translation>{} physisch, {} logisch</translation>
    </message>
</context>
<context>
    <name>VersionsController</name>
    <message>
        <location filename="../../app/paceline/gui/run/versions.py"/>
        <source>A reply is being written.</source>
        <translation>Eine Antwort wird gerade geschrieben.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/versions.py"/>
        <source>No message of this chat has another version.</source>
        <translation>Keine Nachricht dieses Chats hat eine andere Version.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/versions.py"/>
        <source>The reply to the right was continued or edited, or its seed is not known.</source>
        <translation>Die Antwort rechts wurde fortgesetzt oder bearbeitet, oder ihr Seed ist nicht bekannt.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/versions.py"/>
        <source>Version {} in another branch · {}</source>
        <translation>Version {} in einem anderen Zweig · {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/versions.py"/>
        <source>Version {} · {}</source>
        <translation>Version {} · {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/versions.py"/>
        <source>Writing…</source>
        <translation>Schreibe …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/versions.py"/>
        <source>d MMM HH:mm</source>
        <translation>d. MMM HH:mm</translation>
    </message>
</context>
<context>
    <name>VersionsDialog</name>
    <message>
        <location filename="../../app/paceline/gui/run/versions.py"/>
        <source>&amp;Next</source>
        <translation>&amp;Weiter</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/versions.py"/>
        <source>&amp;Previous</source>
        <translation>&amp;Zurück</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/versions.py"/>
        <source>&amp;Write again with</source>
        <translation>Noch einmal schreiben &amp;mit</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/versions.py"/>
        <source>1 difference</source>
        <translation>1 Unterschied</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/versions.py"/>
        <source>Both texts are the same.</source>
        <translation>Beide Texte sind gleich.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/versions.py"/>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/versions.py"/>
        <source>Comparing…</source>
        <translation>Vergleiche …</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/versions.py"/>
        <source>Difference {} of {}</source>
        <translation>Unterschied {} von {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/versions.py"/>
        <source>Generate the reply to the right once more, with its seed and settings, but another strategy; then compare both</source>
        <translation>Die Antwort rechts noch einmal erzeugen, mit ihrem Seed und ihren Einstellungen, aber mit einer anderen Strategie; dann beide vergleichen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/versions.py"/>
        <source>To the difference before</source>
        <translation>Zum vorigen Unterschied</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/versions.py"/>
        <source>To the next difference</source>
        <translation>Zum nächsten Unterschied</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/versions.py"/>
        <source>Version to the left</source>
        <translation>Version links</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/versions.py"/>
        <source>Version to the right</source>
        <translation>Version rechts</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/versions.py"/>
        <source>Versions side by side</source>
        <translation>Versionen nebeneinander</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/versions.py"/>
        <source>seed {}</source>
        <translation>Seed {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/run/versions.py"/>
        <source>{} differences</source>
        <translation>{} Unterschiede</translation>
    </message>
</context>
<context>
    <name>VersionsPage</name>
    <message>
        <location filename="../../app/paceline/gui/help/about.py"/>
        <source>This machine</source>
        <translation>Dieser Rechner</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/help/about.py"/>
        <source>Versions</source>
        <translation>Versionen</translation>
    </message>
</context>
<context>
    <name>Welcome</name>
    <message>
        <location filename="../../app/paceline/gui/welcome/controller.py"/>
        <source>about {}</source>
        <translation>etwa {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/welcome/controller.py"/>
        <source>here {} (estimate)</source>
        <translation>hier {} (geschätzt)</translation>
    </message>
</context>
<context>
    <name>WelcomeController</name>
    <message>
        <location filename="../../app/paceline/gui/welcome/controller.py"/>
        <source>A first model to talk with</source>
        <translation>Ein erstes Modell zum Reden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/welcome/controller.py"/>
        <source>A private chat</source>
        <translation>Ein privater Chat</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/welcome/controller.py"/>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/welcome/controller.py"/>
        <source>Get it</source>
        <translation>Holen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/welcome/controller.py"/>
        <source>Get {name}, {size}</source>
        <translation>{name} holen, {size}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/welcome/controller.py"/>
        <source>Load</source>
        <translation>Laden</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/welcome/controller.py"/>
        <source>Nothing of it is stored or remembered; it is gone when the window closes.</source>
        <translation>Nichts davon wird gespeichert oder gemerkt; es ist weg, wenn das Fenster schließt.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/welcome/controller.py"/>
        <source>Now on this machine</source>
        <translation>Jetzt auf diesem Rechner</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/welcome/controller.py"/>
        <source>Pause</source>
        <translation>Pause</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/welcome/controller.py"/>
        <source>Recommended for this machine: {}</source>
        <translation>Empfohlen für diesen Rechner: {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/welcome/controller.py"/>
        <source>Resume</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/welcome/controller.py"/>
        <source>Two tiny models answer, to show how it works; they know only Python's documentation.</source>
        <translation>Zwei winzige Modelle antworten, um zu zeigen, wie es geht; sie kennen nur Pythons Dokumentation.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/welcome/controller.py"/>
        <source>What shall we write?</source>
        <translation>Was schreiben wir?</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/welcome/controller.py"/>
        <source>yours, with {} as its draft model, {}</source>
        <translation>Ihres, mit {} als Entwurfsmodell, {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/welcome/controller.py"/>
        <source>yours, {}</source>
        <translation>Ihres, {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/welcome/controller.py"/>
        <source>{} answers.</source>
        <translation>Es antwortet {}.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/welcome/controller.py"/>
        <source>{} answers: a small model, often wrong.</source>
        <translation>Es antwortet {}: ein kleines Modell, das sich oft irrt.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/welcome/controller.py"/>
        <source>{} from Hugging Face: quick, small, often wrong</source>
        <translation>{} von Hugging Face: schnell, klein, oft im Irrtum</translation>
    </message>
</context>
<context>
    <name>WelcomePage</name>
    <message>
        <location filename="../../app/paceline/gui/welcome/page.py"/>
        <source>Language models on your own machine, made faster by drafts: the text is the same, only faster.</source>
        <translation>Sprachmodelle auf dem eigenen Rechner, durch Entwürfe beschleunigt: derselbe Text, nur schneller.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/welcome/page.py"/>
        <source>Welcome</source>
        <translation>Willkommen</translation>
    </message>
</context>
<context>
    <name>WhyCard</name>
    <message>
        <location filename="../../app/paceline/gui/speculation/why_card.py"/>
        <source>Auto tells here what it measures, as soon as it writes.</source>
        <translation>Hier sagt Auto, was es misst, sobald es schreibt.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/why_card.py"/>
        <source>Balance</source>
        <translation>Bilanz</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/why_card.py"/>
        <source>Guesses that were right</source>
        <translation>Richtige Vermutungen</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/why_card.py"/>
        <source>What Auto measures, and how it decides</source>
        <translation>Was Auto misst, und wie es entscheidet</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/why_card.py"/>
        <source>What a step costs, by its tokens</source>
        <translation>Was ein Schritt kostet, nach seinen Token</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/why_card.py"/>
        <source>Why</source>
        <translation>Warum</translation>
    </message>
</context>
<context>
    <name>_Chooser</name>
    <message>
        <location filename="../../app/paceline/gui/speculation/strategy_picker.py"/>
        <source>Drafts: {}</source>
        <translation>Entwürfe: {}</translation>
    </message>
</context>
<context>
    <name>_Failures</name>
    <message>
        <location filename="../../app/paceline/gui/app.py"/>
        <source>Something unexpected went wrong: {}.</source>
        <translation>Unerwartet ist etwas schiefgegangen: {}.</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/app.py"/>
        <source>This is a fault of Paceline; the log file tells more.</source>
        <translation>Das ist ein Fehler von Paceline; die Protokolldatei sagt mehr.</translation>
    </message>
</context>
<context>
    <name>_Line</name>
    <message>
        <location filename="../../app/paceline/gui/speculation/reply_cards.py"/>
        <source>Right, by place in the draft: {}</source>
        <translation>Richtig nach dem Platz im Entwurf: {}</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/speculation/reply_cards.py"/>
        <source>right, by place in the draft</source>
        <translation>richtig nach dem Platz im Entwurf</translation>
    </message>
</context>
<context>
    <name>_Names</name>
    <message>
        <location filename="../../app/paceline/gui/models/picker/pair_pane.py"/>
        <source>Draft</source>
        <translation>Entwerfer</translation>
    </message>
    <message>
        <location filename="../../app/paceline/gui/models/picker/pair_pane.py"/>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
</context>
<context>
    <name>_Sample</name>
    <message>
        <location filename="../../app/paceline/gui/settings/pages.py"/>
        <source>Four tokens guessed, three right: 41.2 tokens per second.</source>
        <translation>Vier Token vermutet, drei richtig: 41,2 Token pro Sekunde.</translation>
    </message>
</context>
</TS>
