"""Budgets: the size that each room may reach.

A budget was the size of its room plus a tenth when it was set, at least one file more. A change
that needs more raises it in the same commit, with one line of reason above it.
"""

from __future__ import annotations

from typing import NamedTuple


class Size(NamedTuple):
    """The size of a room."""

    files: int
    code_lines: int


BUDGETS = {
    # Settings are declared here with all that window, command line and files say of them; long
    # names are told apart here for every list, and figures have the rule of a gain.
    # Sizes are read as people write them, and settings say where states of prompts are kept.
    # Devices tell whose memory they share; a cache may lie apart from its layers.
    # What installs kernels is a room. A lock of files serves downloads and the guard of drivers.
    ".": Size(20, 2_600),
    "bench": Size(8, 1_070),
    # A plan's machine, caches and computing are a file each.
    # Memories that devices share are put together, to be shown once.
    # The first model is known by its hash; whom to trust where a system has no certificates.
    "catalog": Size(44, 5_620),
    # chat/syntax has a file for each thing that replies write beyond CommonMark; chats of five
    # programs are read, a module for each, and what is lost of them is counted. Auto's words and
    # those of advice serve the command line, too. Folders and titles have a file each, and so have
    # two replies to one question, what the engine is to drop of stored states, and what it reads
    # ahead.
    "chat": Size(46, 7_060),
    # A server for other programs is started here, too, and one that lends devices.
    # Every child process is tried by the doctor, from one list.
    # Native code is built by a command, and the sampler that draws tokens is reported.
    "cli": Size(28, 4_460),
    # Programs ask for the tokens of any prompt, the window how fast this machine reads weights.
    # What is said aside or read ahead is a file each; stored states are forgotten by a command.
    # The last prompts say why one is read again. The opening of a pair is no part of the service.
    # A pair reports the memory that it takes on each device.
    # A load says which layers own kernels compute.
    "engine": Size(17, 2_570),
    "engine/auto": Size(10, 1_350),
    # Some twenty forms in which families of models call tools, each a table; a grammar and a
    # reader are made of them. A reply may have a form where it calls none.
    "engine/calls": Size(12, 1_450),
    # Stop texts count in the answer, and marks of reasoning are written as readers know them; how
    # likely tokens are is a file.
    "engine/decode": Size(6, 840),
    "engine/draft": Size(25, 3_240),
    # Grammars are cut into lexemes that the library reads exactly; errors name their arguments.
    # Parts of grammars are written as the library's rules. How fast weights are read is timed.
    # Parts of a context are copied. Devices have a file, and are lent; grammars are a room.
    # The log's buffers are read for loads and dry runs alike.
    # Backends may be libraries of their own.
    "engine/llama": Size(25, 3_720),
    # What was measured of a pair is found by its files, and how fast weights are read is kept.
    "engine/measure": Size(6, 700),
    # Errors of models and their settings name their arguments, one a line; a text may have gaps.
    # Stored states are a tree, files, and what is done with them before and after a reply. RPC
    # servers are asked, and models are put on devices.
    # What llama.cpp says of devices, and names that are looked for without end, have words.
    # Masks of grammars are a kind of their own, since they travel as bits.
    "engine/model": Size(19, 2_560),
    # Marks and forms of calls are learned from the template, tools that it cannot write are text,
    # and pieces of a prompt go on without a blank; a gap with the files beside it has a file.
    # Calls that a template does not write are said, and so is the first difference of two prompts.
    "engine/prompt": Size(14, 1_750),
    "engine/sameness": Size(5, 610),
    # Two ways to draw a row, and what they have in common.
    "engine/sample": Size(9, 780),
    # Every keyword of JSON Schema is carried out or refused by name, with its arguments.
    "engine/schema": Size(14, 1_620),
    "gui": Size(11, 1_890),
    "gui/bench": Size(11, 2_000),
    "gui/chat": Size(33, 6_950),
    # One widget for recorded and live replies; what came out of two; the dialog, and its two turns.
    "gui/compare": Size(7, 800),
    # Folders with their editor, their menus and the archive; groups and their order have a file.
    "gui/conversations": Size(12, 2_550),
    "gui/help": Size(7, 1_090),
    # A notice can offer two things; slices of work may delete their owner.
    "gui/kit": Size(19, 2_330),
    "gui/look": Size(7, 930),
    # Other computers: their servers, which are asked, and their page.
    "gui/machines": Size(4, 420),
    # Devices of a model are ticked, bars say how many layers each has, and what parts look like.
    "gui/models": Size(36, 5_560),
    "gui/plot": Size(6, 950),
    # Words, cards, the check of sameness and the view of differences have a file each.
    "gui/run": Size(11, 1_460),
    "gui/sampling": Size(7, 1_370),
    # The server's switch, page, light and list; settings for six programs are written here.
    "gui/serving": Size(10, 1_100),
    # Access token, folder of downloads and proxy have a page.
    # So have what is kept of prompts, and what its switch does.
    "gui/settings": Size(8, 1_330),
    "gui/speculation": Size(8, 1_370),
    # Which chat is shown, what is written in it and not sent, and what the next reply is generated
    # with are state, each in a file; so are the requests of other programs, the question how fast
    # this machine reads weights, and the last deletion. Devices are forgotten with their servers,
    # and have words.
    "gui/state": Size(20, 1_920),
    # The example, the questions and what is chosen by a click have a file each.
    # A first model is offered, with its download.
    "gui/welcome": Size(6, 720),
    # The queue in front of the engine, with its tickets. The doctor asks a process of its own, in a
    # file beside the engine's, and so has whether there is power.
    "hosting": Size(14, 1_660),
    # How the program came here, what came along with it, and its kernels. Every remedy is here.
    # Two libraries are compiled, which share their seal, their places and the compiler.
    "installation": Size(11, 860),
    # A folder for each family of routes; limits, guard, queue and port have a file each.
    # Three APIs for chats, each with a file for its input.
    # What guards HTTP is a folder, too.
    # Lines of system prompts that change are taken as unchanged. A port is taken for others, too.
    "server": Size(44, 3_730),
    # The folders of chats are a file.
    "storage": Size(15, 2_340),
    "workers": Size(9, 800),
}
