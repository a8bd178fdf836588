import Foundation
import ODataMetadata

// Prints what the model of each document says, one tab-separated line per element, for Tests/Integration/csdl-agreement.

func show(_ parts: Any...) { print(parts.map { "\($0)" }.joined(separator: "\t")) }

func type(_ reference: ServiceModel.TypeReference) -> String { "\(reference)\(reference.isNullable ? "?" : "")" }

for path in CommandLine.arguments.dropFirst() {
    print("document\t\(path)")
    let model: ServiceModel
    do {
        model = try ServiceModel(data: Data(contentsOf: URL(fileURLWithPath: path)))
    } catch {
        print("error\t\(error)")
        continue
    }
    show("version", model.version.rawValue)
    for schema in model.schemas {
        for item in schema.entityTypes + schema.complexTypes {
            show(item.kind, item.qualifiedName, item.baseType ?? "-", item.isAbstract, item.isOpen)
            if !item.key.isEmpty { show("key", item.qualifiedName, item.key.map { "\($0.path):\($0.name)" }.joined(separator: ",")) }
            for property in item.properties { show("property", property.target, type(property.type)) }
            for relation in item.navigationProperties {
                show("navigation", relation.target, relation.isCollection ? "Collection(\(relation.targetType))" : relation.targetType)
            }
        }
        for item in schema.enumTypes {
            show("enum", item.qualifiedName, item.isFlags)
            for member in item.members { show("member", member.target, member.value) }
        }
        for item in schema.typeDefinitions { show("definition", item.qualifiedName, item.underlyingType.name) }
        for item in schema.terms { show("term", item.qualifiedName, item.type.description) }
        for item in schema.operations {
            let parameters = item.parameters.map { "\($0.name):\($0.type)" }.joined(separator: ",")
            show("operation", item.qualifiedName, item.isBound, parameters, item.returnType?.type.description ?? "-")
        }
        for container in schema.containers {
            for set in container.entitySets { show("set", set.target, set.entityType) }
            for singleton in container.singletons { show("singleton", singleton.target, singleton.type) }
            for item in container.operationImports { show("import", item.target) }
        }
    }
}
