"""The former path of `bayleaf.text.mail`, kept working."""

from bayleaf.text.mail import MAIL_COLUMNS, mail_columns

__all__ = ["MAIL_COLUMNS", "mail_columns"]
