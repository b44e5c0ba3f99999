# Dashboard, worker and commands in one image; compose.yaml and deploy/kubernetes start them.
FROM python:3.13-slim AS build
COPY . /src
RUN python -m venv /opt/offdiag && /opt/offdiag/bin/pip install --no-cache-dir '/src[team]'

FROM python:3.13-slim
RUN useradd --create-home --uid 10001 offdiag
COPY --from=build /opt/offdiag /opt/offdiag
COPY config/gunicorn.conf.py.example /etc/offdiag/gunicorn.conf.py
ENV PATH=/opt/offdiag/bin:$PATH
USER 10001
WORKDIR /home/offdiag
EXPOSE 8642
# Inside the container; whoever publishes the port limits access.
CMD ["gunicorn", "--config", "/etc/offdiag/gunicorn.conf.py", "--bind", "0.0.0.0:8642"]
