from fastapi import FastAPI

api: FastAPI = FastAPI(title="quotes")
