"""An OData 2 service as a WSGI application: the server is pyslet's, the model and its contents are defined here.

    ODATA2_ROOT=http://127.0.0.1:8080/ ODATA2_FILE=shop.sqlite gunicorn --workers 1 odata2:application

Each start creates the file again. A page has at most ten entities.
"""
import decimal
import io
import os
import uuid

from pyslet import iso8601
from pyslet.odata2 import metadata
from pyslet.odata2.server import Server
from pyslet.odata2.sqlds import SQLiteEntityContainer

SCHEMA = b"""<?xml version="1.0" encoding="utf-8"?>
<edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"
    xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
  <edmx:DataServices m:DataServiceVersion="2.0">
    <Schema Namespace="Shop" xmlns="http://schemas.microsoft.com/ado/2006/04/edm">
      <EntityContainer Name="Container" m:IsDefaultEntityContainer="true">
        <EntitySet Name="Products" EntityType="Shop.Product"/>
        <EntitySet Name="Categories" EntityType="Shop.Category"/>
        <AssociationSet Name="CategoryOfProduct" Association="Shop.CategoryOfProduct">
          <End Role="Product" EntitySet="Products"/>
          <End Role="Category" EntitySet="Categories"/>
        </AssociationSet>
      </EntityContainer>
      <EntityType Name="Product">
        <Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Name" Type="Edm.String" Nullable="false" MaxLength="200" Unicode="true"/>
        <Property Name="Note" Type="Edm.String" Nullable="true" MaxLength="200" Unicode="true"/>
        <Property Name="Price" Type="Edm.Decimal" Nullable="true" Precision="20" Scale="4"/>
        <Property Name="Weight" Type="Edm.Double" Nullable="true"/>
        <Property Name="Stock" Type="Edm.Int64" Nullable="true"/>
        <Property Name="Sold" Type="Edm.Boolean" Nullable="true"/>
        <Property Name="Code" Type="Edm.Guid" Nullable="true"/>
        <Property Name="Seal" Type="Edm.Binary" Nullable="true" MaxLength="100"/>
        <Property Name="Released" Type="Edm.DateTime" Nullable="true" Precision="3"/>
        <Property Name="Opens" Type="Edm.Time" Nullable="true" Precision="0"/>
        <NavigationProperty Name="Category" Relationship="Shop.CategoryOfProduct" FromRole="Product" ToRole="Category"/>
      </EntityType>
      <EntityType Name="Category">
        <Key><PropertyRef Name="Code"/></Key>
        <Property Name="Code" Type="Edm.String" Nullable="false" MaxLength="50" Unicode="true"/>
        <Property Name="Title" Type="Edm.String" Nullable="true" MaxLength="200" Unicode="true"/>
        <NavigationProperty Name="Products" Relationship="Shop.CategoryOfProduct" FromRole="Category" ToRole="Product"/>
      </EntityType>
      <Association Name="CategoryOfProduct">
        <End Type="Shop.Product" Role="Product" Multiplicity="*"/>
        <End Type="Shop.Category" Role="Category" Multiplicity="0..1"/>
      </Association>
    </Schema>
  </edmx:DataServices>
</edmx:Edmx>
"""

NAMES = ["Plain", "O'Hara's \"best\"", "A & B + C", "50 % off / new", "Größe ø — 北京", "tab\tand\nline", "#1? yes; (no)=maybe"]


def fill(document):
    services = document.root.DataServices
    with services["Shop.Container.Categories"].open() as categories:
        for code, title in (("a/b", "Slashed"), ("it's", "Quoted"), ("ö", None)):
            entity = categories.new_entity()
            entity.set_key(code)
            entity["Title"].set_from_value(title)
            categories.insert_entity(entity)
    with services["Shop.Container.Products"].open() as products:
        for number in range(1, 36):
            entity = products.new_entity()
            entity.set_key(number)
            entity["Name"].set_from_value("%s %d" % (NAMES[number % len(NAMES)], number))
            entity["Note"].set_from_value(None if number % 3 == 0 else "note %d" % number)
            entity["Price"].set_from_value(decimal.Decimal(number) / 4)
            entity["Weight"].set_from_value(number * 0.5)
            entity["Stock"].set_from_value(9007199254740993 + number)
            entity["Sold"].set_from_value(number % 2 == 0)
            entity["Code"].set_from_value(uuid.UUID(int=number))
            entity["Seal"].set_from_value(bytes(bytearray((0xFB, 0xFF, number))))
            entity["Released"].set_from_value(iso8601.TimePoint.from_str("20%02d-02-28T12:30:%02d.500" % (number % 30, number)))
            entity["Opens"].set_from_value(iso8601.Time.from_str("08:%02d:00" % number))
            entity["Category"].bind_entity(("a/b", "it's", "ö")[number % 3])
            products.insert_entity(entity)


def service():
    document = metadata.Document()
    document.read(io.BytesIO(SCHEMA))
    path = os.environ.get("ODATA2_FILE", "shop.sqlite")
    if os.path.exists(path):
        os.remove(path)
    container = SQLiteEntityContainer(file_path=path, container=document.root.DataServices["Shop.Container"])
    container.create_all_tables()
    fill(document)
    server = Server(os.environ.get("ODATA2_ROOT", "http://127.0.0.1:8080/"))
    server.topmax = 10
    server.set_model(document)
    server.container = container
    return server


application = service()
