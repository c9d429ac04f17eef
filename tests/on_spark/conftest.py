"""One Spark for all tests of this folder: it takes longer to start than to answer."""

import pytest

from on_spark import spark as sparks


@pytest.fixture(scope="session")
def spark():
    return sparks.spark()
