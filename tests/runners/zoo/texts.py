"""Pages to learn from, written for the tests."""

from runners.zoo.text import Page

ENGLISH = (
    "The command copies a file into another folder and keeps the time of the last change. If the file is there already, it is replaced.",
    "A process that waits for a signal does not use the processor. When the signal arrives, the function returns its number, or an error.",
    "Select the cells of the table, open the menu and choose the format of numbers. The new format is shown at once in every cell.",
)
RUSSIAN = (
    "Команда копирует файл в другой каталог и сохраняет время последнего изменения. Если такой файл уже есть, он будет заменён.",
    "Процесс, ожидающий сигнала, не занимает процессор. Когда сигнал приходит, функция возвращает его номер или код ошибки.",
    "Выделите ячейки таблицы, откройте меню и выберите формат чисел. Новый формат сразу же появится в каждой ячейке.",
)


def pages(times: int = 1) -> list[Page]:
    """None of them is held out."""
    made = [
        Page(language, f"page-{number}", "\n".join([text] * times))
        for language, texts in (("en", ENGLISH), ("ru", RUSSIAN))
        for number, text in enumerate(texts)
    ]
    assert not any(page.held_out for page in made)
    return made
